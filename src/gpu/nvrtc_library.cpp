#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "core/cuda_installation.hpp"
#include "core/environment.hpp"
#include "gpu/nvrtc.hpp"
#include "gpu/nvrtc_api.hpp"

namespace fatune::gpu {
namespace {

constexpr const char* kNvrtcVariable = "FATUNE_NVRTC";
constexpr const char* kNvrtcRemedy =
    "pip install 'nvidia-cuda-nvrtc==13.0.*' (with a driver before R580: nvidia-cuda-nvrtc-cu12) "
    "in the active virtual environment or as the user, or set CUDA_HOME to a CUDA toolkit of 12.0 "
    "or later, or FATUNE_NVRTC to a libnvrtc.so";

struct Nvrtc {
  NvrtcApi api;
  NvrtcStatus status;
};

std::string nvrtc_file() {
  const auto& found = cuda_installation();
  return environment_variable(kNvrtcVariable).value_or(found ? found->nvrtc.string() : "");
}

template <typename Function>
void find_in_nvrtc(void* library, const char* name, Function& function, NvrtcStatus& status) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr && status.problem.empty()) {
    status.problem = fmt::format("{} has no {}", status.library, name);
  }
}

/// The file that defines NVRTC's functions. The file that FATUNE_NVRTC names may only forward to
/// it.
std::string file_of(const NvrtcApi& api) {
  Dl_info info{};
  const bool known = dladdr(reinterpret_cast<void*>(api.nvrtcVersion), &info) != 0;
  return known && info.dli_fname != nullptr ? info.dli_fname : "";
}

/// Loads libnvrtc-builtins, or the alternative one of the CUDA toolkit's libnvrtc.alt. libnvrtc
/// opens it by its bare name and has no RUNPATH, but finds it once it is loaded.
void load_builtins(const NvrtcApi& api, const std::string& nvrtc) {
  int major = 0;
  int minor = 0;
  if (api.nvrtcVersion(&major, &minor) == NVRTC_SUCCESS) {
    const std::filesystem::path library = nvrtc;
    const bool is_alternative = library.filename().string().starts_with("libnvrtc.alt.");
    const std::string name =
        fmt::format("libnvrtc-builtins{}.so.{}.{}", is_alternative ? ".alt" : "", major, minor);
    dlopen((library.parent_path() / name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
}

void* open_nvrtc(NvrtcStatus& status) {
  status.library = nvrtc_file();
  if (status.library.empty()) {
    status.problem = "NVRTC, which compiles kernels, was not found";
    return nullptr;
  }
  void* const library = dlopen(status.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    status.problem = fmt::format("NVRTC cannot be loaded: {}",
                                 reason == nullptr ? status.library : std::string(reason));
  }
  return library;
}

Nvrtc load_nvrtc() {
  Nvrtc loaded;
  NvrtcStatus& status = loaded.status;
  if (void* const library = open_nvrtc(status)) {
#define FATUNE_FIND(name) find_in_nvrtc(library, #name, loaded.api.name, status);
    FATUNE_NVRTC_FUNCTIONS(FATUNE_FIND)
#undef FATUNE_FIND
  }
  if (status.usable()) {
    status.library = file_of(loaded.api);
    load_builtins(loaded.api, status.library);
  } else {
    status.remedy = kNvrtcRemedy;
  }
  return loaded;
}

const Nvrtc& the_nvrtc() {
  static const Nvrtc loaded = load_nvrtc();
  return loaded;
}

}  // namespace

const NvrtcStatus& probe_nvrtc() { return the_nvrtc().status; }

const NvrtcApi& nvrtc() {
  const Nvrtc& loaded = the_nvrtc();
  if (!loaded.status.usable()) {
    throw Error(ExitCode::bad_file, loaded.status.problem, {}, loaded.status.remedy);
  }
  return loaded.api;
}

}  // namespace fatune::gpu
