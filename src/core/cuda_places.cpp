#include "core/cuda_places.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <system_error>

#include "core/environment.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

void append(const std::vector<fs::path>& more, std::vector<fs::path>& paths) {
  paths.insert(paths.end(), more.begin(), more.end());
}

}  // namespace

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    paths.push_back(it->path());
  }
  std::ranges::sort(paths, [](const fs::path& a, const fs::path& b) {
    const std::string left = a.filename().string();
    const std::string right = b.filename().string();
    return ::strverscmp(left.c_str(), right.c_str()) < 0;
  });
  return paths;
}

std::vector<fs::path> system_toolkits() {
  std::vector<fs::path> roots{"/usr/local/cuda"};
  std::vector<fs::path> others = sorted_entries("/usr/local");
  std::ranges::reverse(others);
  std::ranges::copy_if(others, std::back_inserter(roots), [](const fs::path& root) {
    return root.filename().string().starts_with("cuda-");
  });
  return roots;
}

std::vector<fs::path> chosen_toolkits() {
  std::vector<fs::path> roots;
  for (const char* const name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = environment_variable(name)) {
      roots.emplace_back(*root);
    }
  }
  return roots;
}

std::optional<fs::path> program_prefix() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? std::nullopt : std::optional(program.parent_path().parent_path());
}

std::vector<fs::path> python_prefixes() {
  std::vector<fs::path> prefixes;
  if (const auto environment = environment_variable("VIRTUAL_ENV")) {
    prefixes.emplace_back(*environment);
  }
  if (const auto home = environment_variable("HOME")) {
    prefixes.push_back(fs::path(*home) / ".local");
  }
  prefixes.emplace_back("/usr/local");
  prefixes.emplace_back("/usr");
  return prefixes;
}

std::vector<fs::path> python_packages(const fs::path& prefix) {
  std::vector<fs::path> folders;
  for (const char* const library_folder : {"lib", "lib64"}) {
    for (const fs::path& version : sorted_entries(prefix / library_folder)) {
      if (version.filename().string().starts_with("python3")) {
        folders.push_back(version / "site-packages");
        folders.push_back(version / "dist-packages");
      }
    }
  }
  folders.push_back(prefix);
  return folders;
}

std::vector<fs::path> nvidia_packages(const fs::path& prefix) {
  std::vector<fs::path> packages;
  for (const fs::path& folder : python_packages(prefix)) {
    append(sorted_entries(folder / "nvidia"), packages);
  }
  return packages;
}

}  // namespace fatune
