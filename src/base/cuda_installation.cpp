#include "base/cuda_installation.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <ranges>
#include <sstream>
#include <system_error>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

/// The entries of a folder, sorted by name with numbers by size (cuda-12.9 before cuda-13.0). Empty
/// if the folder cannot be read.
Paths sorted_entries(const fs::path& folder) {
  Paths paths;
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

/// The toolkits that the user chose: CUDA_HOME and CUDA_PATH, if they are set.
Paths chosen_toolkits() {
  Paths roots;
  for (const char* const name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = environment_variable(name)) {
      roots.emplace_back(*root);
    }
  }
  return roots;
}

/// The prefix that this program is installed under: /venv for /venv/bin/fatune.
std::optional<fs::path> program_prefix() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? std::nullopt : std::optional(program.parent_path().parent_path());
}

/// The prefixes that Python packages are installed under: the virtual environment's, ~/.local,
/// /usr/local, /usr.
Paths python_prefixes() {
  Paths prefixes;
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

/// The folders of NVIDIA's Python packages below `prefix`: in <prefix>/lib/python3.*/site-packages,
/// or in the folder of `pip install --target <prefix>`.
Paths nvidia_packages(const fs::path& prefix) {
  Paths folders;
  for (const char* const library_folder : {"lib", "lib64"}) {
    for (const fs::path& version : sorted_entries(prefix / library_folder)) {
      if (version.filename().string().starts_with("python3")) {
        folders.push_back(version / "site-packages");
        folders.push_back(version / "dist-packages");
      }
    }
  }
  folders.push_back(prefix);
  Paths packages;
  for (const fs::path& folder : folders) {
    std::ranges::move(sorted_entries(folder / "nvidia"), std::back_inserter(packages));
  }
  return packages;
}

/// True for a word like "580.159.04".
bool is_release(const std::string& word) {
  return word.find('.') != std::string::npos && word.front() != '.' &&
         word.find_first_not_of("0123456789.") == std::string::npos;
}

constexpr std::array kNvrtcNames{"libnvrtc.so.13", "libnvrtc.so.12"};
// Folders below a toolkit's folder, the same as those in cmake/FindNvrtc.cmake.
constexpr std::array kLibraryFolders{"lib64",
                                     "lib",
                                     "lib/x86_64-linux-gnu",
                                     "lib/aarch64-linux-gnu",
                                     "targets/x86_64-linux/lib",
                                     "targets/sbsa-linux/lib"};
constexpr std::array kIncludeFolders{"include", "targets/x86_64-linux/include",
                                     "targets/sbsa-linux/include"};
// The first driver branch that loads the machine code of CUDA 13.
constexpr int kFirstBranchOfCuda13 = 580;

std::optional<fs::path> nvrtc_in(const fs::path& folder) {
  for (const char* const name : kNvrtcNames) {
    std::error_code ignored;
    if (fs::exists(folder / name, ignored)) {
      return folder / name;
    }
  }
  return std::nullopt;
}

/// Adds the folder and its subfolder cccl, which has cuda/std and nv/target since CUDA 13.
void add_with_cccl(const fs::path& include, Paths& folders) {
  for (const fs::path& folder : {include, include / "cccl"}) {
    if (std::error_code ignored; fs::is_directory(folder, ignored)) {
      folders.push_back(folder);
    }
  }
}

void add_toolkit(const fs::path& root, std::vector<CudaInstallation>& found) {
  for (const char* const folder : kLibraryFolders) {
    if (const auto nvrtc = nvrtc_in(root / folder)) {
      found.push_back({*nvrtc, {}});
      for (const char* const include : kIncludeFolders) {
        add_with_cccl(root / include, found.back().include_folders);
      }
      return;
    }
  }
}

void add_toolkits(const Paths& roots, std::vector<CudaInstallation>& found) {
  for (const fs::path& root : roots) {
    add_toolkit(root, found);
  }
}

/// Up to CUDA 12 each package has a folder of its own, whose name begins with "cuda_":
/// nvidia/cuda_runtime.
bool has_own_folder(const fs::path& package) {
  return package.filename().string().starts_with("cuda_");
}

bool same_release(const fs::path& a, const fs::path& b) {
  return a == b || (a.parent_path() == b.parent_path() && has_own_folder(a) && has_own_folder(b));
}

void add_packages(const fs::path& prefix, std::vector<CudaInstallation>& found) {
  const Paths packages = nvidia_packages(prefix);
  for (const fs::path& package : packages) {
    if (const auto nvrtc = nvrtc_in(package / "lib")) {
      found.push_back({*nvrtc, {}});
      for (const fs::path& other : packages) {
        if (same_release(package, other)) {
          add_with_cccl(other / "include", found.back().include_folders);
        }
      }
    }
  }
}

void add_built_with([[maybe_unused]] std::vector<CudaInstallation>& found) {
#ifdef FATUNE_BUILT_WITH_NVRTC
  found.push_back({FATUNE_BUILT_WITH_NVRTC, {}});
  add_with_cccl(FATUNE_BUILT_WITH_INCLUDE, found.back().include_folders);
#endif
}

bool loads(int driver_branch, const CudaInstallation& installation) {
  return driver_branch == 0 || driver_branch >= kFirstBranchOfCuda13 || installation.major() < 13;
}

/// Where the programs that have packages of their own are: <product>/<version>/<inner>.
struct Product {
  std::string_view program;
  const char* folder;
  const char* inner;
};
constexpr std::array kProducts{Product{"ncu", "/opt/nvidia/nsight-compute", ""},
                               Product{"nsys", "/opt/nvidia/nsight-systems", "bin"}};

/// The folders where a program may be, in the order in which they are tried.
Paths tool_folders(std::string_view name) {
  const std::string path = environment_variable("PATH").value_or("");
  Paths folders;
  for (std::string_view rest = path; !rest.empty();) {
    if (const std::string_view folder = take_until(rest, ':'); !folder.empty()) {
      folders.emplace_back(folder);
    }
  }
  const auto add_bins = [&](const Paths& roots) {
    for (const fs::path& root : roots) {
      folders.push_back(root / "bin");
    }
  };
  add_bins(chosen_toolkits());
  add_bins(system_toolkits());
  if (const auto prefix = program_prefix()) {  // build/<preset>/bin, or installed
    folders.push_back(prefix->parent_path() / "cuda_tools" / "bin");
    add_bins(nvidia_packages(*prefix));
  }
  for (const fs::path& prefix : python_prefixes()) {
    add_bins(nvidia_packages(prefix));
  }
  const auto* const product = std::ranges::find(kProducts, name, &Product::program);
  if (product != kProducts.end()) {
    for (const fs::path& version : std::views::reverse(sorted_entries(product->folder))) {
      folders.push_back(version / product->inner);
    }
  }
  return folders;
}

bool is_executable(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

}  // namespace

std::vector<fs::path> system_toolkits() {
  std::vector<fs::path> roots{"/usr/local/cuda"};
  std::vector<fs::path> others = sorted_entries("/usr/local");
  std::ranges::reverse(others);
  std::ranges::copy_if(others, std::back_inserter(roots), [](const fs::path& root) {
    return root.filename().string().starts_with("cuda-");
  });
  return roots;
}

std::string module_driver_release() {
  std::ifstream file("/proc/driver/nvidia/version");
  return read_driver_release(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::string read_driver_release(std::string_view text) {
  std::istringstream words{std::string(text.substr(0, text.find('\n')))};
  const auto found = std::find_if(std::istream_iterator<std::string>(words), {}, is_release);
  return found == std::istream_iterator<std::string>() ? std::string() : *found;
}

int CudaInstallation::major() const {
  std::error_code ignored;
  const std::string name = fs::weakly_canonical(nvrtc, ignored).filename().string();
  const std::size_t at = name.find(".so.");
  return at == std::string::npos ? 0 : std::atoi(name.c_str() + at + 4);
}

std::vector<CudaInstallation> cuda_installations() {
  std::vector<CudaInstallation> found;
  add_toolkits(chosen_toolkits(), found);
  add_built_with(found);
  if (const auto prefix = program_prefix()) {
    add_packages(*prefix, found);
  }
  add_toolkits(system_toolkits(), found);
  for (const fs::path& prefix : python_prefixes()) {
    add_packages(prefix, found);
  }
  add_toolkit("/usr", found);
  return found;
}

std::optional<CudaInstallation> choose_installation(const std::vector<CudaInstallation>& found,
                                                    std::string_view driver_release) {
  const int branch = std::atoi(std::string(driver_release).c_str());
  const auto it =
      std::ranges::find_if(found, [&](const CudaInstallation& one) { return loads(branch, one); });
  if (it != found.end()) {
    return *it;
  }
  return found.empty() ? std::nullopt : std::optional(found.front());
}

const std::optional<CudaInstallation>& cuda_installation() {
  static const auto chosen = choose_installation(cuda_installations(), module_driver_release());
  return chosen;
}

std::optional<fs::path> find_tool(std::string_view name) {
  std::string variable = "FATUNE_";
  for (const char c : name) {
    variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  if (const auto chosen = environment_variable(variable.c_str())) {
    if (!is_executable(*chosen)) {
      throw Error(ExitCode::bad_file, "is not an executable file", *chosen,
                  "the environment names it as the path of " + std::string(name));
    }
    return *chosen;
  }
  for (const fs::path& folder : tool_folders(name)) {
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

}  // namespace fatune
