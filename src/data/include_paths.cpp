#include "data/include_paths.hpp"

#include "core/environment.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// Since CUDA 13 cuda/std and nv/target are in a folder of their own there.
void add_with_cccl(const fs::path& include, std::vector<fs::path>& folders) {
  for (const fs::path& folder : {include, include / "cccl"}) {
    if (is_folder(folder)) {
      folders.push_back(folder);
    }
  }
}

}  // namespace

std::vector<fs::path> toolkit_include_folders() {
  std::vector<fs::path> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = environment_variable(variable)) {
      add_with_cccl(fs::path(*root) / "include", folders);
    }
    if (!folders.empty()) {
      return folders;
    }
  }
  add_with_cccl(FATUNE_CUDA_INCLUDE, folders);
  return folders;
}

IncludePaths::IncludePaths(const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    if (!is_folder(folder)) {
      throw Error(ExitCode::usage, "is not a folder", folder.string(),
                  "--include names a folder with headers");
    }
    folders_.push_back(fs::absolute(folder));
  }
  for (fs::path& folder : toolkit_include_folders()) {
    folders_.push_back(std::move(folder));
  }
}

std::optional<fs::path> IncludePaths::find(const std::string& name) const {
  for (const fs::path& folder : folders_) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / name, ignored)) {
      return folder / name;
    }
  }
  return std::nullopt;
}

}  // namespace fatune
