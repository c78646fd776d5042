#include "base/find_tool.hpp"

#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/cuda_installation.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

void add_path(std::vector<fs::path>& folders) {
  const std::string path = environment_variable("PATH").value_or("");
  for (std::string_view rest = path; !rest.empty();) {
    if (const std::string_view folder = take_until(rest, ':'); !folder.empty()) {
      folders.emplace_back(folder);
    }
  }
}

void add_toolkits(const std::vector<fs::path>& roots, std::vector<fs::path>& folders) {
  for (const fs::path& root : roots) {
    folders.push_back(root / "bin");
  }
}

/// Adds build/cuda_tools for a program in build/<preset>/bin, and the Python packages beside an
/// installed one.
void add_beside_program(std::vector<fs::path>& folders) {
  if (const auto prefix = program_prefix()) {
    folders.push_back(prefix->parent_path() / "cuda_tools" / "bin");
    add_toolkits(nvidia_packages(*prefix), folders);
  }
}

/// Adds the folders of a product's versions, newest first: <product>/<version>/<inner>.
void add_product(const fs::path& product, const fs::path& inner, std::vector<fs::path>& folders) {
  std::vector<fs::path> versions = sorted_entries(product);
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
  add_toolkits(chosen_toolkits(), places.folders);
  add_toolkits(system_toolkits(), places.folders);
  add_beside_program(places.folders);
  for (const fs::path& prefix : python_prefixes()) {
    add_toolkits(nvidia_packages(prefix), places.folders);
  }
  return places;
}

std::optional<fs::path> find_tool(const std::string& name, const ToolPlaces& places) {
  if (places.chosen) {
    if (!is_executable(*places.chosen)) {
      throw Error(ExitCode::bad_file, "is not an executable file", *places.chosen,
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

std::string needed_tool(const std::optional<fs::path>& found, const std::string& what,
                        const std::string& where, const std::string& remedy) {
  if (!found) {
    throw Error(ExitCode::bad_file, what + " is not installed", where, remedy);
  }
  return found->string();
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
