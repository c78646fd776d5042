#include "process/find_tool.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <system_error>

#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/text_parts.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

/// The entries of a folder, sorted by name with numbers as people count: cuda-12.9 before
/// cuda-13.0.
std::vector<fs::path> entries(const fs::path& folder) {
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

void add_path(std::vector<fs::path>& folders) {
  const std::string path = environment_variable("PATH").value_or("");
  for (std::string_view rest = path; !rest.empty();) {
    if (const std::string_view folder = take_until(rest, ':'); !folder.empty()) {
      folders.emplace_back(folder);
    }
  }
}

void add_toolkits(std::vector<fs::path>& folders) {
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = environment_variable(name)) {
      folders.push_back(fs::path(*root) / "bin");
    }
  }
  folders.emplace_back("/usr/local/cuda/bin");
  std::vector<fs::path> others = entries("/usr/local");
  std::ranges::reverse(others);
  for (const fs::path& root : others) {
    if (root.filename().string().starts_with("cuda-")) {
      folders.push_back(root / "bin");
    }
  }
}

/// build/cuda_tools, for a program in build/<preset>/bin.
void add_build_folder(std::vector<fs::path>& folders) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    folders.push_back(program.parent_path().parent_path().parent_path() / "cuda_tools" / "bin");
  }
}

/// <python>/nvidia/<package>/bin, where <python> is a site-packages folder.
void add_packages(const fs::path& python, std::vector<fs::path>& folders) {
  for (const fs::path& package : entries(python / "nvidia")) {
    folders.push_back(package / "bin");
  }
}

void add_python(const fs::path& prefix, std::vector<fs::path>& folders) {
  for (const fs::path& version : entries(prefix / "lib")) {
    if (version.filename().string().starts_with("python3")) {
      add_packages(version / "site-packages", folders);
      add_packages(version / "dist-packages", folders);
    }
  }
}

/// The folders of a product's versions, the newest first: <product>/<version>/<inner>.
void add_product(const fs::path& product, const fs::path& inner, std::vector<fs::path>& folders) {
  std::vector<fs::path> versions = entries(product);
  std::ranges::reverse(versions);
  for (const fs::path& version : versions) {
    folders.push_back(version / inner);
  }
}

bool is_executable(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

}  // namespace

ToolPlaces tool_places(const std::string& chosen) {
  ToolPlaces places;
  places.chosen = environment_variable(chosen.c_str());
  add_path(places.folders);
  add_toolkits(places.folders);
  add_build_folder(places.folders);
  if (const auto environment = environment_variable("VIRTUAL_ENV")) {
    add_python(*environment, places.folders);
  }
  if (const auto home = environment_variable("HOME")) {
    add_python(fs::path(*home) / ".local", places.folders);
  }
  add_python("/usr/local", places.folders);
  add_python("/usr", places.folders);
  return places;
}

std::optional<fs::path> find_tool(const std::string& name, const ToolPlaces& places) {
  if (places.chosen) {
    if (!is_executable(*places.chosen)) {
      throw Error(ExitCode::bad_file, "no executable file", *places.chosen,
                  "the environment names it as the path of " + name);
    }
    return *places.chosen;
  }
  for (const fs::path& folder : places.folders) {
    if (is_executable(folder / name)) {
      return folder / name;
    }
  }
  return std::nullopt;
}

std::optional<fs::path> find_nvdisasm() {
  return find_tool("nvdisasm", tool_places("FATUNE_NVDISASM"));
}

std::optional<fs::path> find_compute_sanitizer() {
  return find_tool("compute-sanitizer", tool_places("FATUNE_COMPUTE_SANITIZER"));
}

std::optional<fs::path> find_cuobjdump() {
  return find_tool("cuobjdump", tool_places("FATUNE_CUOBJDUMP"));
}

std::optional<fs::path> find_dot() { return find_tool("dot", tool_places("FATUNE_DOT")); }

std::optional<fs::path> find_ncu() {
  ToolPlaces places = tool_places("FATUNE_NCU");
  add_product("/opt/nvidia/nsight-compute", "", places.folders);
  return find_tool("ncu", places);
}

std::optional<fs::path> find_nsys() {
  ToolPlaces places = tool_places("FATUNE_NSYS");
  add_product("/opt/nvidia/nsight-systems", "bin", places.folders);
  return find_tool("nsys", places);
}

}  // namespace fatune
