#include "gpu/range_counters.hpp"

#include <array>

#include <fmt/format.h>

#include "base/cuda_installation.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "gpu/cupti_api.hpp"
#include "gpu/library.hpp"
#include "gpu/nvrtc.hpp"

namespace fatune::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::array kNames{"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
// Relative to the folder of a toolkit.
constexpr std::array kToolkitFolders{"lib64", "lib", "extras/CUPTI/lib64",
                                     "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"};
// Relative to the folder of NVRTC's library, which is in a wheel of CUDA 13, in a toolkit, in a
// toolkit's targets/*/lib, or in a wheel of CUDA 12 (in the order of these entries).
constexpr std::array kBesideNvrtc{".", "../extras/CUPTI/lib64", "../../../extras/CUPTI/lib64",
                                  "../../cuda_cupti/lib"};

void add_folder(const fs::path& folder, std::vector<fs::path>& candidates) {
  for (const char* const name : kNames) {
    candidates.push_back((folder / name).lexically_normal());
  }
}

}  // namespace

std::vector<fs::path> cupti_candidates(const fs::path& nvrtc_folder) {
  std::vector<fs::path> candidates;
  for (const char* const folder : kBesideNvrtc) {
    add_folder(nvrtc_folder / folder, candidates);
  }
  candidates.insert(candidates.end(), kNames.begin(), kNames.end());
  for (const fs::path& toolkit : system_toolkits()) {
    for (const char* const folder : kToolkitFolders) {
      add_folder(toolkit / folder, candidates);
    }
  }
  return candidates;
}

#if FATUNE_HAS_RANGE_PROFILER
namespace {

constexpr const char* kCuptiVariable = "FATUNE_CUPTI";
constexpr const char* kRemedy =
    "install CUPTI of CUDA 12.6 or newer (it is in a CUDA toolkit, and in the PyPI package "
    "nvidia-cuda-cupti), or set FATUNE_CUPTI to its libcupti.so";

// CUPTI opens these by their bare names and has no RUNPATH. It finds them if they are loaded
// already.
void load_companions(const fs::path& library) {
  for (const char* const name : {"libnvperf_target.so", "libnvperf_host.so"}) {
    dlopen((library.parent_path() / name).c_str(), RTLD_LAZY | RTLD_LOCAL);
  }
}

void* open_library(const fs::path& file) {
  if (file.has_parent_path()) {
    if (!fs::exists(file)) {
      return nullptr;
    }
    load_companions(file);
  }
  return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
}

void* open_chosen(const std::string& file) {
  void* const library = open_library(file);
  if (library == nullptr) {
    throw Error(ExitCode::gpu_failure,
                fmt::format("CUPTI cannot be loaded from '{}': {}", file,
                            loader_says("there is no such file")),
                kCuptiVariable, "set it to a libcupti.so, or unset it");
  }
  return library;
}

void* open_first(std::string& file) {
  for (const fs::path& candidate :
       cupti_candidates(fs::path(probe_nvrtc().library).parent_path())) {
    if (void* const library = open_library(candidate)) {
      file = candidate;
      return library;
    }
  }
  throw Error(ExitCode::gpu_failure, "CUPTI, which reads hardware counters, was not found", {},
              kRemedy);
}

bool needs_permission(CUptiResult result) {
  return result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
         result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES;
}

std::string remedy_of(CUptiResult result) {
  if (needs_permission(result)) {
    return "run as root, or have the administrator load NVIDIA's kernel module with "
           "NVreg_RestrictProfilingToAdminUsers=0: https://developer.nvidia.com/ERR_NVGPUCTRPERM";
  }
  return result == CUPTI_ERROR_HARDWARE_BUSY ||
                 result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
             ? "another profiler uses the counters (ncu, nsys, DCGM): stop it or wait until it ends"
             : "";
}

}  // namespace

CuptiApi load_cupti() {
  CuptiApi api;
  const auto chosen = environment_variable(kCuptiVariable);
  api.library = chosen.value_or("");
  void* const library = chosen ? open_chosen(api.library) : open_first(api.library);
  std::string missing;
#define FATUNE_FIND(name) find_function(library, #name, api.name, missing);
  FATUNE_CUPTI_FUNCTIONS(FATUNE_FIND)
#undef FATUNE_FIND
  if (!missing.empty()) {
    throw Error(ExitCode::gpu_failure,
                fmt::format("this CUPTI has no range profiler (no {})", missing), api.library,
                kRemedy);
  }
  return api;
}

Error cupti_error(const CuptiApi& cupti, CUptiResult result, const char* call) {
  const char* text = nullptr;
  const bool known = cupti.cuptiGetResultString(result, &text) == CUPTI_SUCCESS && text != nullptr;
  const std::string what =
      fmt::format("hardware counters cannot be read: {} failed with {}", call,
                  known ? text : fmt::format("code {}", static_cast<int>(result)));
  return {ExitCode::gpu_failure,
          needs_permission(result) ? what + " (no permission to read them)" : what,
          {},
          remedy_of(result)};
}

void CuptiApi::check(CUptiResult result, const char* call) const {
  if (result != CUPTI_SUCCESS) {
    throw cupti_error(*this, result, call);
  }
}

#endif

}  // namespace fatune::gpu
