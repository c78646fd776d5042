// NVML controlled by environment variables (README.md).
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include <unistd.h>

namespace {

constexpr int kInvalidArgument = 2;
constexpr int kNotFound = 6;
constexpr int kClockSm = 1;

std::atomic<int>& started() {
  static std::atomic<int> count{0};
  return count;
}

unsigned setting(const char* variable, unsigned default_value) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? default_value : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

/// The scripted result of a call.
int scripted(const std::string& function) {
  const char* const text = std::getenv("FATUNE_FAKE_NVML_FAIL");
  std::istringstream rules(text == nullptr ? "" : text);
  for (std::string rule; std::getline(rules, rule, ',');) {
    const std::size_t equals = rule.find('=');
    if (rule.substr(0, equals) == function) {
      return std::atoi(rule.c_str() + equals + 1);
    }
  }
  return 0;
}

template <typename Number>
int answer(const char* function, Number* where, Number what) {
  const int result = scripted(function);
  if (result == 0) {
    *where = what;
  }
  return result;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const int result = scripted("Init_v2");
  started() += result == 0 ? 1 : 0;
  return result;
}

int nvmlShutdown() {
  --started();
  return 0;
}

int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  const char* const said = std::getenv("FATUNE_FAKE_NVML_DRIVER");
  std::strncpy(text, said == nullptr ? "580.159.04" : said, size);
  return scripted("SystemGetDriverVersion");
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  static int the_device = 0;
  const bool known = std::strncmp(uuid, "GPU-", 4) == 0;
  return known ? answer<void*>("GetHandleByUUID", device, &the_device) : kNotFound;
}

int nvmlDeviceGetClockInfo(void*, int which, unsigned* mhz) {
  return which != kClockSm ? kInvalidArgument
                           : answer("GetClockInfo", mhz, setting("FATUNE_FAKE_NVML_SM_MHZ", 1980));
}

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  return answer("GetPowerUsage", milliwatts, setting("FATUNE_FAKE_NVML_POWER_MW", 350000));
}

int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  return sensor != 0
             ? kInvalidArgument
             : answer("GetTemperature", celsius, setting("FATUNE_FAKE_NVML_TEMPERATURE_C", 45));
}

#ifdef FAKE_NVML_OLD
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
#else
int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  *pending = 0;
  return answer("GetMigMode", current, setting("FATUNE_FAKE_NVML_MIG", 0));
}

int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
#endif
  return answer<unsigned long long>("GetCurrentClocksEventReasons", reasons,
                                    setting("FATUNE_FAKE_NVML_LIMITS", 4));
}

#ifndef FAKE_NVML_OLD
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, ProcessInfo* infos) {
  const char* const text = std::getenv("FATUNE_FAKE_NVML_PROCESSES");
  std::istringstream pids(text == nullptr ? "" : text);
  unsigned found = 0;
  for (std::string pid; found < *count && std::getline(pids, pid, ','); ++found) {
    infos[found] = {pid == "self" ? static_cast<unsigned>(getpid())
                                  : static_cast<unsigned>(std::strtoul(pid.c_str(), nullptr, 10)),
                    0, 0, 0};
  }
  *count = found;
  return scripted("GetComputeRunningProcesses");
}
#endif

int fatune_fake_nvml_started() { return started(); }

}  // extern "C"
