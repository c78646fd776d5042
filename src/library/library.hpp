#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "data/file_tree.hpp"
#include "plan/family.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

/// The machine code of a configuration for the problems with these values of kernel_key().
struct BuiltKernel {
  std::vector<double> key;
  std::size_t code = 0;  ///< index of Library::codes
};

struct LibraryConfig {
  Config config;
  std::vector<BuiltKernel> kernels;
};

/// Machine code, with the SHA-256 of its cubin.
struct LibraryCode {
  std::shared_ptr<const Artifact> artifact;
  std::string sha256;
  Arch arch;
};

/// The contents of an exported library. The families and the table must outlive it.
struct Library {
  const FamilySet& families;
  const TunedTable& table;
  std::vector<LibraryConfig> configs;  ///< those of the table
  std::vector<LibraryCode> codes;      ///< each once
};

/// The generated source: every family's functions, the configurations, and the table.
[[nodiscard]] std::string library_source(const Library& library);

/// The assembler source that includes the cubins from the files of cubin_path().
[[nodiscard]] std::string cubins_source(const Library& library);
[[nodiscard]] std::string cubin_path(const LibraryCode& code);  ///< "cubins/<SHA-256>.cubin"

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
