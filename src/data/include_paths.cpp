#include "data/include_paths.hpp"

#include <algorithm>

#include "core/cuda_installation.hpp"
#include "core/error.hpp"
#include "data/file_tree.hpp"

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
    add(folder);
  }
  if (const auto& cuda = cuda_installation()) {
    for (const fs::path& folder : cuda->include_folders) {
      add(folder);
    }
  }
}

void IncludePaths::add(const fs::path& folder) {
  const fs::path plain = fs::absolute(folder).lexically_normal();
  folders_.push_back(plain.has_filename() ? plain : plain.parent_path());
}

std::optional<fs::path> IncludePaths::find(const std::string& name, const fs::path& beside) const {
  std::vector<fs::path> places = folders_;
  if (!beside.empty()) {
    places.insert(places.begin(), beside);
  }
  for (const fs::path& place : places) {
    const fs::path file = (place / name).lexically_normal();
    const auto has_file = [&](const fs::path& folder) { return is_within(file, folder); };
    std::error_code ignored;
    if (std::ranges::any_of(folders_, has_file) && fs::is_regular_file(file, ignored)) {
      return file;
    }
  }
  return std::nullopt;
}

}  // namespace fatune
