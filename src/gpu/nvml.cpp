#include "gpu/nvml.hpp"

#include <array>

#include <fmt/format.h>

#include "base/cuda_installation.hpp"
#include "base/environment.hpp"
#include "gpu/library.hpp"

namespace fatune::gpu {
namespace {

constexpr const char* kDefaultNvml = "libnvidia-ml.so.1";
constexpr const char* kNvmlVariable = "FATUNE_LIBNVML";

// Values from nvml.h, which not every machine that builds fatune has.
constexpr int kSuccess = 0;          // NVML_SUCCESS
constexpr int kClockSm = 1;          // NVML_CLOCK_SM
constexpr int kSensorGpu = 0;        // NVML_TEMPERATURE_GPU
constexpr unsigned kMigEnabled = 1;  // NVML_DEVICE_MIG_ENABLE

std::string library_name() { return environment_variable(kNvmlVariable).value_or(kDefaultNvml); }

}  // namespace

// The functions that the library has; those that it lacks are null.
struct Nvml::Library {
  using Device = void*;
  /// nvmlProcessInfo_t, versions 2 and 3.
  struct ProcessInfo {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance;
    unsigned compute_instance;
  };

  explicit Library(const std::string& name) : handle(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) {
      return;
    }
    find("nvmlInit_v2", init);
    find("nvmlShutdown", shutdown);
    find("nvmlSystemGetDriverVersion", driver_version);
    find("nvmlDeviceGetHandleByUUID", by_uuid);
    find("nvmlDeviceGetMigMode", mig_mode);
    find("nvmlDeviceGetClockInfo", clock);
    find("nvmlDeviceGetPowerUsage", power);
    find("nvmlDeviceGetTemperature", temperature);
    find("nvmlDeviceGetCurrentClocksEventReasons", clock_limits);
    if (clock_limits == nullptr) {  // the name before driver 535
      find("nvmlDeviceGetCurrentClocksThrottleReasons", clock_limits);
    }
    find("nvmlDeviceGetComputeRunningProcesses_v3", processes);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (started) {
      shutdown();
    }
    if (handle != nullptr) {
      dlclose(handle);
    }
  }

  template <typename Function>
  void find(const char* name, Function& function) {
    std::string ignored;
    find_function(handle, name, function, ignored);
  }

  // Starts NVML. Returns the reason for a failure; empty on success.
  [[nodiscard]] std::string start() {
    if (handle == nullptr) {
      return loader_says("the library cannot be loaded");
    }
    if (init == nullptr || shutdown == nullptr || by_uuid == nullptr || clock == nullptr) {
      return "the library lacks functions";
    }
    const int result = init();
    started = result == kSuccess;
    return started ? std::string() : fmt::format("nvmlInit_v2 returned {}", result);
  }

  [[nodiscard]] std::string find_device(const std::string& uuid, Device& device) const {
    if (const int result = by_uuid(uuid.c_str(), &device); result != kSuccess) {
      return fmt::format("nvmlDeviceGetHandleByUUID returned {} for '{}'", result, uuid);
    }
    unsigned current = 0;
    unsigned pending = 0;
    const bool in_parts = mig_mode != nullptr && mig_mode(device, &current, &pending) == kSuccess &&
                          current == kMigEnabled;
    return in_parts ? "the GPU is split (MIG): its clocks are not this part's" : std::string();
  }

  void* handle;
  bool started = false;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*by_uuid)(const char*, Device*) = nullptr;
  int (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*clock_limits)(Device, unsigned long long*) = nullptr;
  int (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;
};

Nvml::Nvml(const std::string& uuid) : library_(std::make_unique<Library>(library_name())) {
  problem_ = library_->start();
  if (problem_.empty()) {
    problem_ = library_->find_device(uuid, device_);
  }
}

Nvml::~Nvml() = default;

std::string nvml_driver_release() {
  Nvml::Library library(library_name());
  std::array<char, 80> text{};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
  const bool said = library.start().empty() && library.driver_version != nullptr &&
                    library.driver_version(text.data(), text.size() - 1) == kSuccess;
  return said ? text.data() : std::string();
}

std::optional<GpuReading> Nvml::read() const {
  unsigned sm_mhz = 0;
  if (!available() || library_->clock(device_, kClockSm, &sm_mhz) != kSuccess) {
    return std::nullopt;
  }
  GpuReading reading;
  reading.sm_mhz = sm_mhz;
  unsigned milliwatts = 0;
  if (library_->power != nullptr && library_->power(device_, &milliwatts) == kSuccess) {
    reading.power_w = milliwatts / 1e3;
  }
  unsigned celsius = 0;
  if (library_->temperature != nullptr &&
      library_->temperature(device_, kSensorGpu, &celsius) == kSuccess) {
    reading.temperature_c = celsius;
  }
  unsigned long long limits = 0;
  if (library_->clock_limits != nullptr && library_->clock_limits(device_, &limits) == kSuccess) {
    reading.clock_limits = static_cast<std::uint32_t>(limits);
  }
  return reading;
}

std::vector<int> Nvml::compute_processes() const {
  std::array<Library::ProcessInfo, 256> infos{};
  auto count = static_cast<unsigned>(infos.size());
  std::vector<int> pids;
  if (available() && library_->processes != nullptr &&
      library_->processes(device_, &count, infos.data()) == kSuccess) {
    for (unsigned i = 0; i < count; ++i) {
      pids.push_back(static_cast<int>(infos.at(i).pid));
    }
  }
  return pids;
}

const std::string& driver_release() {
  static const std::string release = [] {
    const auto of_module = environment_variable(kNvmlVariable) ? "" : module_driver_release();
    return of_module.empty() ? nvml_driver_release() : of_module;
  }();
  return release;
}

}  // namespace fatune::gpu
