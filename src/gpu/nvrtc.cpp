#include "gpu/nvrtc.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "gpu/nvrtc_api.hpp"

namespace fatune::gpu {
namespace {

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

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> result(texts.size());
  std::transform(texts.begin(), texts.end(), result.begin(),
                 [](const std::string& text) { return text.c_str(); });
  return result;
}

void* create_program(const SourceBundle& sources) {
  std::vector<const char*> texts;
  std::vector<const char*> names;
  for (const SourceFile& header : sources.headers) {
    texts.push_back(header.text.c_str());
    names.push_back(header.name.c_str());
  }
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
  while (!text.empty() && text.back() == '\0') {
    text.pop_back();
  }
  return text;
}

}  // namespace

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
  const std::vector<const char*> texts = pointers(options);
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
