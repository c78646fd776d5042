#include "library/library.hpp"

#include "core/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::string_view kRuntime = "src/runtime/";
constexpr std::string_view kPackage = "src/runtime/package/";
constexpr std::string_view kTorch = "src/runtime/torch/";
constexpr std::string_view kPublicHeader = "attention.hpp";

/// The place of a file of src/runtime in the library; empty: it is not part of a C++ library.
std::string place_of(std::string_view path) {
  if (path.starts_with(kPackage)) {
    return std::string(path.substr(kPackage.size()));
  }
  const std::string name(path.substr(kRuntime.size()));
  if (name == kPublicHeader) {
    return "include/fatune_attention/" + name;
  }
  return name.find('/') == std::string::npos ? "src/" + name : "";
}

}  // namespace

std::vector<LibraryFile> constant_library_files(const FileTree& tree) {
  std::vector<LibraryFile> files;
  for (const std::string& path : tree.list(kRuntime)) {
    if (const std::string place = place_of(path); !place.empty()) {
      files.push_back({place, tree.read(path)});
    }
  }
  return files;
}

std::vector<LibraryFile> cpp_library_files(const Library& library, const FileTree& tree) {
  std::vector<LibraryFile> files = constant_library_files(tree);
  files.push_back({"src/kernels.cpp", library_source(library)});
  files.push_back({"src/cubins.S", cubins_source(library)});
  for (const LibraryCode& code : library.codes) {
    const std::vector<char>& cubin = code.artifact->cubin;
    files.push_back({cubin_path(code), {cubin.begin(), cubin.end()}});
  }
  return files;
}

std::vector<LibraryFile> torch_package_files(const Library& library, const FileTree& tree) {
  std::vector<LibraryFile> files = cpp_library_files(library, tree);
  for (LibraryFile& file : files) {
    file.path = std::string(kTorchLibraryFolder) + "/" + file.path;
  }
  for (const std::string& path : tree.list(kTorch)) {
    files.push_back({path.substr(kTorch.size()), tree.read(path)});
  }
  return files;
}

}  // namespace fatune
