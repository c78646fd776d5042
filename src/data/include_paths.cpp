#include "data/include_paths.hpp"

#include "core/cuda_installation.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

}  // namespace

IncludePaths::IncludePaths(const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    if (!is_folder(folder)) {
      throw Error(ExitCode::usage, "is not a folder", folder.string(),
                  "--include names a folder with headers");
    }
    folders_.push_back(fs::absolute(folder));
  }
  if (const auto& cuda = cuda_installation()) {
    folders_.insert(folders_.end(), cuda->include_folders.begin(), cuda->include_folders.end());
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
