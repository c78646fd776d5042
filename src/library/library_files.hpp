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

/// The files that all C++ libraries share, from src/runtime.
[[nodiscard]] std::vector<LibraryFile> constant_library_files(const FileTree& tree);

/// The files of a C++ library: those that all share, and generated ones.
[[nodiscard]] std::vector<LibraryFile> cpp_library_files(const Library& library,
                                                         const FileTree& tree);

/// The folder of the C++ library within a PyTorch package.
inline constexpr std::string_view kTorchLibraryFolder = "library";

/// The files of a PyTorch package: src/runtime/torch, and the C++ library.
[[nodiscard]] std::vector<LibraryFile> torch_package_files(const Library& library,
                                                           const FileTree& tree);

}  // namespace fatune
