#include "measure/gpu_worker.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <optional>

#include <spdlog/spdlog.h>

#include "base/worker_process.hpp"
#include "gpu/context.hpp"
#include "gpu/driver.hpp"
#include "gpu/nvml.hpp"
#include "measure/gpu_measurer.hpp"
#include "measure/loaded_kernel.hpp"
#include "measure/tensors.hpp"
#include "measure/timing.hpp"
#include "measure/worker_loop.hpp"
#include "model/head_problem.hpp"

namespace fatune {
namespace {

template <typename T>
std::int64_t bytes_of(const std::vector<T>& values) {
  return static_cast<std::int64_t>(values.size() * sizeof(T));
}

class Bench {
 public:
  explicit Bench(const DebugRequest& request)
      : request_(request),
        tensors_(request.problem),
        outputs_(outputs_of(request.geometry.arguments.buffers), stream_),
        dump_(request.dump ? 4 * request.dump->values(request.problem.d_head_v) : 0) {
    tensors_.poison(stream_);
    copy_in(tensors_.q(), request.q);
    copy_in(tensors_.k(), request.k);
    copy_in(tensors_.v(), request.v);
    if (request.dump) {
      gpu::fill_words_async(dump_.address(), Tensors::kPoison, dump_.bytes() / 4, stream_);
    }
  }

  void launch(const LoadedKernel& kernel) const {
    const auto addresses = [this](std::string_view name) -> std::optional<gpu::DevicePtr> {
      const auto output = outputs_.find(name);
      return name == kDumpTensor ? dump_.address() : output ? output : tensors_.find(name);
    };
    const KernelLaunch one =
        kernel.launch(request_.geometry, addresses, LaunchMode::plain, "debug");
    one.queue(stream_);
    stream_.synchronize();
  }

  [[nodiscard]] DebugRun read_back() const {
    DebugRun run;
    run.output.resize(static_cast<std::size_t>(tensor_elements(request_.problem, TensorRole::o)));
    run.dump.resize(static_cast<std::size_t>(dump_.bytes() / 4));
    gpu::copy_to_host_async(run.output.data(), tensors_.o(), bytes_of(run.output), stream_);
    if (request_.dump) {
      gpu::copy_to_host_async(run.dump.data(), dump_.address(), dump_.bytes(), stream_);
    }
    stream_.synchronize();
    return run;
  }

 private:
  void copy_in(gpu::DevicePtr target, const std::vector<std::uint16_t>& elements) const {
    if (!elements.empty()) {
      gpu::copy_to_device_async(target, elements.data(), bytes_of(elements), stream_);
    }
  }

  const DebugRequest& request_;
  gpu::Stream stream_;
  Tensors tensors_;
  OutputSet outputs_;
  gpu::DeviceBuffer dump_;
};

/// Runs the kernel in this process, on the current context, and waits. Throws gpu::DriverError.
DebugResult debug_run(const DebugRequest& request, const DeviceLimits& limits) {
  LoadedKernel kernel(request.artifact);
  if (std::optional<std::string> limit = kernel.prepare(request.geometry, limits)) {
    return Outcome{Unlaunchable{*std::move(limit)}};
  }
  const Bench bench(request);
  bench.launch(kernel);
  return bench.read_back();
}

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
  [[nodiscard]] DeviceRates device_rates(const Artifact& kernel) override {
    return {measure_matmul_rate(kernel, limits_, monitor_ ? &*monitor_ : nullptr),
            measure_memory_rate(kernel, limits())};
  }
  [[nodiscard]] DebugResult run_for_debug(const DebugRequest& request) override {
    return debug_run(request, limits_);
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
