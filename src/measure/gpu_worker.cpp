#include "measure/gpu_worker.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <optional>

#include <spdlog/spdlog.h>

#include "gpu/context.hpp"
#include "gpu/devices.hpp"
#include "gpu/nvml.hpp"
#include "measure/gpu_measurer.hpp"
#include "measure/gpu_monitor.hpp"
#include "measure/matmul_rate.hpp"
#include "measure/worker_loop.hpp"
#include "process/worker_process.hpp"

namespace fatune {
namespace {

class GpuDevice : public WorkerDevice {
 public:
  explicit GpuDevice(const Hello& hello)
      : context_(hello.device_ordinal),
        limits_(gpu::describe_device(hello.device_ordinal).limits),
        nvml_(limits_.uuid),
        measurer_(context_, limits_, hello.policy, start_monitor(), hello.count_rows) {}

  [[nodiscard]] DeviceLimits limits() const override {
    DeviceLimits limits = limits_;
    limits.free_memory_bytes = context_.memory().free_bytes;
    return limits;
  }
  [[nodiscard]] Measurer& measurer() override { return measurer_; }
  [[nodiscard]] MatmulRate matmul_rate(const Artifact& kernel) override {
    return measure_matmul_rate(kernel, limits_, monitor_ ? &*monitor_ : nullptr);
  }
  [[nodiscard]] DebugResult run_for_debug(const DebugRequest& request) override {
    return fatune::run_for_debug(request, limits_);
  }

 private:
  // Starts the monitor. Returns null if there is nothing to be read.
  GpuMonitor* start_monitor() {
    if (!nvml_.available()) {
      spdlog::debug("no GPU readings: {}", nvml_.problem());
      return nullptr;
    }
    return &monitor_.emplace([this] { return nvml_.read(); });
  }

  gpu::Context context_;
  DeviceLimits limits_;
  gpu::Nvml nvml_;
  std::optional<GpuMonitor> monitor_;
  GpuMeasurer measurer_;
};

}  // namespace

void run_gpu_worker() {
  check_worker_connection();
  if (::getpgrp() == ::getpid()) {  // else a launcher is the parent, and its threads may end early
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  ::signal(SIGINT, SIG_IGN);  // left to the parent
  Channel channel{Descriptor(kWorkerDescriptor)};
  serve(channel, [](const Hello& hello) { return std::make_unique<GpuDevice>(hello); });
}

}  // namespace fatune
