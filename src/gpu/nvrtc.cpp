#include "gpu/nvrtc.hpp"

#include <dlfcn.h>
#include <nvrtc.h>

#include <filesystem>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/cuda_installation.hpp"
#include "base/environment.hpp"
#include "base/ranges.hpp"

namespace fatune::gpu {
namespace {

#define FATUNE_NVRTC_FUNCTIONS(X) \
  X(nvrtcVersion)                 \
  X(nvrtcGetErrorString)          \
  X(nvrtcGetNumSupportedArchs)    \
  X(nvrtcGetSupportedArchs)       \
  X(nvrtcCreateProgram)           \
  X(nvrtcDestroyProgram)          \
  X(nvrtcAddNameExpression)       \
  X(nvrtcCompileProgram)          \
  X(nvrtcGetProgramLogSize)       \
  X(nvrtcGetProgramLog)           \
  X(nvrtcGetCUBINSize)            \
  X(nvrtcGetCUBIN)                \
  X(nvrtcGetPTXSize)              \
  X(nvrtcGetPTX)                  \
  X(nvrtcGetLoweredName)

struct NvrtcApi {
#define FATUNE_DECLARE(name) decltype(&::name) name = nullptr;
  FATUNE_NVRTC_FUNCTIONS(FATUNE_DECLARE)
#undef FATUNE_DECLARE
};

constexpr const char* kNvrtcVariable = "FATUNE_NVRTC";
constexpr const char* kNvrtcRemedy =
    "pip install 'nvidia-cuda-nvrtc==13.0.*' (with a driver before R580: nvidia-cuda-nvrtc-cu12) "
    "in the active virtual environment or as the user, or set CUDA_HOME to a CUDA toolkit of 12.0 "
    "or later, or FATUNE_NVRTC to a libnvrtc.so";

struct Nvrtc {
  NvrtcApi api;
  LibraryStatus status;
};

std::string nvrtc_file() {
  const auto& found = cuda_installation();
  return environment_variable(kNvrtcVariable).value_or(found ? found->nvrtc.string() : "");
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

void* open_nvrtc(LibraryStatus& status) {
  status.library = nvrtc_file();
  if (status.library.empty()) {
    status.problem = "NVRTC, which compiles kernels, was not found";
    return nullptr;
  }
  void* const library = dlopen(status.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    status.problem = fmt::format("NVRTC cannot be loaded: {}", loader_says(status.library));
  }
  return library;
}

Nvrtc load_nvrtc() {
  Nvrtc loaded;
  LibraryStatus& status = loaded.status;
  if (void* const library = open_nvrtc(status)) {
    std::string missing;
#define FATUNE_FIND(name) find_function(library, #name, loaded.api.name, missing);
    FATUNE_NVRTC_FUNCTIONS(FATUNE_FIND)
#undef FATUNE_FIND
    status.problem = missing.empty() ? "" : fmt::format("{} has no {}", status.library, missing);
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

/// NVRTC's functions. Throws Error(bad_file) with probe_nvrtc()'s problem if NVRTC cannot be used.
const NvrtcApi& nvrtc() {
  const Nvrtc& loaded = the_nvrtc();
  if (!loaded.status.usable()) {
    throw Error(ExitCode::bad_file, loaded.status.problem, {}, loaded.status.remedy);
  }
  return loaded.api;
}

nvrtcProgram raw(const Handle<void*, destroy_program>& program) {
  return static_cast<nvrtcProgram>(program.get());
}

std::string remedy_of_nvrtc_error(int result) {
  return result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE
             ? "libnvrtc-builtins must be in the same folder as libnvrtc"
             : "";
}

std::string describe(int result, const std::string& call, const std::string& log) {
  const std::string first = fmt::format(
      "{} failed: {}", call, nvrtc().nvrtcGetErrorString(static_cast<nvrtcResult>(result)));
  return log.empty() ? first : first + "\n" + log;
}

void check(nvrtcResult result, const char* call) {
  if (result != NVRTC_SUCCESS) {
    throw NvrtcError(result, call);
  }
}

void* create_program(const SourceBundle& sources) {
  const auto texts =
      mapped(sources.headers, [](const auto& header) { return header.text.c_str(); });
  const auto names =
      mapped(sources.headers, [](const auto& header) { return header.name.c_str(); });
  nvrtcProgram program = nullptr;
  check(nvrtc().nvrtcCreateProgram(&program, sources.main.text.c_str(), sources.main.name.c_str(),
                                   static_cast<int>(names.size()), texts.data(), names.data()),
        "nvrtcCreateProgram");
  return program;
}

/// Calls both getters of one kind of output: for its size, then for its bytes.
template <typename Bytes, typename GetSize, typename GetBytes>
Bytes read_output(nvrtcProgram program, GetSize get_size, GetBytes get_bytes, const char* call) {
  std::size_t size = 0;
  check(get_size(program, &size), call);
  Bytes bytes(size, '\0');
  check(get_bytes(program, bytes.data()), call);
  return bytes;
}

/// Removes the terminating zero, which NVRTC counts as part of a text.
std::string without_terminator(std::string text) {
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

}  // namespace

const LibraryStatus& probe_nvrtc() { return the_nvrtc().status; }

NvrtcError::NvrtcError(int result, const std::string& call, const std::string& log)
    : Error(ExitCode::internal, describe(result, call, log), {}, remedy_of_nvrtc_error(result)) {}

NvrtcVersion nvrtc_version() {
  NvrtcVersion version;
  check(nvrtc().nvrtcVersion(&version.major, &version.minor), "nvrtcVersion");
  return version;
}

std::string nvrtc_version_text() {
  const NvrtcVersion version = nvrtc_version();
  return fmt::format("{}.{}", version.major, version.minor);
}

std::vector<int> nvrtc_supported_sms() {
  int count = 0;
  check(nvrtc().nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> sms(static_cast<std::size_t>(count));
  check(nvrtc().nvrtcGetSupportedArchs(sms.data()), "nvrtcGetSupportedArchs");
  return sms;
}

void destroy_program(void* program) noexcept {
  auto handle = static_cast<nvrtcProgram>(program);
  const nvrtcResult result = nvrtc().nvrtcDestroyProgram(&handle);
  if (result != NVRTC_SUCCESS) {
    spdlog::warn("nvrtcDestroyProgram failed: {}", nvrtc().nvrtcGetErrorString(result));
  }
}

Program::Program(const SourceBundle& sources) : program_(create_program(sources)) {}

void Program::add_name_expression(const std::string& expression) {
  check(nvrtc().nvrtcAddNameExpression(raw(program_), expression.c_str()),
        "nvrtcAddNameExpression");
}

bool Program::compile(const std::vector<std::string>& options) {
  const std::vector<const char*> texts = mapped(options, &std::string::c_str);
  const nvrtcResult result =
      nvrtc().nvrtcCompileProgram(raw(program_), static_cast<int>(texts.size()), texts.data());
  if (result != NVRTC_SUCCESS && result != NVRTC_ERROR_COMPILATION) {
    throw NvrtcError(result, "nvrtcCompileProgram", log());
  }
  return result == NVRTC_SUCCESS;
}

std::string Program::log() const {
  return without_terminator(read_output<std::string>(raw(program_), nvrtc().nvrtcGetProgramLogSize,
                                                     nvrtc().nvrtcGetProgramLog,
                                                     "nvrtcGetProgramLog"));
}

std::vector<char> Program::cubin() const {
  return read_output<std::vector<char>>(raw(program_), nvrtc().nvrtcGetCUBINSize,
                                        nvrtc().nvrtcGetCUBIN, "nvrtcGetCUBIN");
}

std::string Program::ptx() const {
  return without_terminator(read_output<std::string>(raw(program_), nvrtc().nvrtcGetPTXSize,
                                                     nvrtc().nvrtcGetPTX, "nvrtcGetPTX"));
}

std::string Program::lowered_name(const std::string& expression) const {
  const char* name = nullptr;
  check(nvrtc().nvrtcGetLoweredName(raw(program_), expression.c_str(), &name),
        "nvrtcGetLoweredName");
  return name;
}

}  // namespace fatune::gpu
