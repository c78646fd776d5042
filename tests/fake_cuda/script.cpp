#include "fake_cuda/script.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>

namespace fake_cuda {
namespace {

struct Rule {
  CUresult result = CUDA_SUCCESS;
  long long at = 0;  ///< 0: not specified
};

/// Parses "700@3" or "700".
Rule parse_rule(const std::string& text) {
  const std::size_t at = text.find('@');
  return {static_cast<CUresult>(std::atoi(text.c_str())),
          at == std::string::npos ? 0 : std::atoll(text.c_str() + at + 1)};
}

long long count_call(const std::string& function) {
  static std::mutex mutex;
  static std::map<std::string, long long> calls;
  const std::lock_guard lock(mutex);
  return ++calls[function];
}

}  // namespace

std::string text_setting(const char* variable, const char* default_value) {
  const char* value = std::getenv(variable);
  return value == nullptr ? default_value : value;
}

long long integer_setting(const char* variable, long long default_value) {
  const char* value = std::getenv(variable);
  return value == nullptr ? default_value : std::atoll(value);
}

bool runs_kernels() { return text_setting("FATUNE_FAKE_KERNELS", "emulated") != "never_run"; }

int compute_capability() {
  const std::string text = text_setting("FATUNE_FAKE_CC", "9.0");
  const std::size_t dot = text.find('.');
  const int minor = dot == std::string::npos ? 0 : std::atoi(text.c_str() + dot + 1);
  return 10 * std::atoi(text.c_str()) + minor;
}

CUresult scripted_failure(const std::string& function) {
  const long long call = count_call(function);
  std::istringstream rules(text_setting("FATUNE_FAKE_FAIL", ""));
  for (std::string item; std::getline(rules, item, ',');) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || item.substr(0, equals) != function) {
      continue;
    }
    const Rule rule = parse_rule(item.substr(equals + 1));
    if (rule.at == 0 || rule.at == call) {
      return rule.result;
    }
  }
  return CUDA_SUCCESS;
}

CUresult scripted_kernel_error(long long launch, const std::string& kernel) {
  const std::string text = text_setting("FATUNE_FAKE_KERNEL_ERROR", "");
  if (text.empty()) {
    return CUDA_SUCCESS;
  }
  constexpr const char* kByName = "@name:";
  if (const std::size_t at = text.find(kByName); at != std::string::npos) {
    const bool fits = kernel.find(text.substr(at + std::strlen(kByName))) != std::string::npos;
    return fits ? static_cast<CUresult>(std::atoi(text.c_str())) : CUDA_SUCCESS;
  }
  const Rule rule = parse_rule(text);
  return launch == (rule.at == 0 ? 1 : rule.at) ? rule.result : CUDA_SUCCESS;
}

}  // namespace fake_cuda
