#include "core/cuda_installation.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>

#include "core/cuda_places.hpp"
#include "core/driver_module.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

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

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

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
void add_with_cccl(const fs::path& include, std::vector<fs::path>& folders) {
  for (const fs::path& folder : {include, include / "cccl"}) {
    if (is_folder(folder)) {
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

void add_toolkits(const std::vector<fs::path>& roots, std::vector<CudaInstallation>& found) {
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
  const std::vector<fs::path> packages = nvidia_packages(prefix);
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

}  // namespace

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

}  // namespace fatune
