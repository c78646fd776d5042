#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/file_tree.hpp"
#include "library/library.hpp"

namespace fatune {

/// A file of an exported library.
struct LibraryFile {
  std::string path;  ///< below the library's folder
  std::string bytes;
};

/// The folder of a C++ library: what is the same in each, from src/runtime, and what was generated.
[[nodiscard]] std::vector<LibraryFile> cpp_library_files(const Library& library,
                                                         const FileTree& tree);

/// Where the C++ library of a PyTorch package lies in the package's folder.
inline constexpr std::string_view kTorchLibraryFolder = "library";

/// The folder of a PyTorch package: src/runtime/torch, and the C++ library.
[[nodiscard]] std::vector<LibraryFile> torch_package_files(const Library& library,
                                                           const FileTree& tree);

}  // namespace fatune
