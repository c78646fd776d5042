#include "measure/debug_run.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "attention/forward_arguments.hpp"
#include "gpu/context.hpp"
#include "gpu/memory.hpp"
#include "measure/loaded_kernel.hpp"
#include "measure/output_set.hpp"
#include "measure/tensors.hpp"

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
        dump_(request.dump ? 4 * request.dump->values(request.problem.d_head) : 0) {
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
    run.output.resize(request_.q.size());
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
    gpu::copy_to_device_async(target, elements.data(), bytes_of(elements), stream_);
  }

  const DebugRequest& request_;
  gpu::Stream stream_;
  Tensors tensors_;
  OutputSet outputs_;
  gpu::DeviceBuffer dump_;
};

}  // namespace

DebugResult run_for_debug(const DebugRequest& request, const DeviceLimits& limits) {
  LoadedKernel kernel(request.artifact);
  if (std::optional<std::string> limit = kernel.prepare(request.geometry, limits)) {
    return Outcome{Unlaunchable{*std::move(limit)}};
  }
  const Bench bench(request);
  bench.launch(kernel);
  return bench.read_back();
}

}  // namespace fatune
