// Measures the host time of a call, and the time of its kernel.
//
//   bench [--device N]
//
// Host time: batches of calls that are queued without waiting, for a problem whose kernels are so
// short that the queue is never full. Kernel time: tuned problems, between events around several
// launches on one stream. Exit code: 0; 1 if a call failed; 2 if there is no GPU or no driver.
#include <algorithm>
#include <chrono>

#include "trial.hpp"

using namespace fatune_attention;
using namespace example;

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void require(const Result& result) {
  if (!result) {
    end_program(kWrong, std::string(status_name(result.status)) + ": " + result.reason);
  }
}

void launch_often(const Trial& trial, int calls) {
  for (int i = 0; i < calls; ++i) {
    require(trial.launch(true));
  }
}

/// Returns microseconds per call.
double host_time(const Trial& trial, void* stream) {
  using Clock = std::chrono::steady_clock;
  constexpr int kBatches = 100;
  constexpr int kCalls = 100;
  std::vector<double> times;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto begin = Clock::now();
    launch_often(trial, kCalls);
    const std::chrono::duration<double, std::micro> taken = Clock::now() - begin;
    times.push_back(taken.count() / kCalls);
    wait_for(stream);
  }
  return median(times);
}

/// A CUDA event.
class Event {
 public:
  Event() { call("cuEventCreate", &event_, 0U); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { try_call("cuEventDestroy_v2", event_); }

  void record(void* stream) const { call("cuEventRecord", event_, stream); }
  double us_since(const Event& start) const {
    float ms = 0.0F;
    call("cuEventElapsedTime", &ms, start.event_, event_);
    return 1e3 * static_cast<double>(ms);
  }

 private:
  void* event_ = nullptr;
};

/// Returns microseconds per launch, measured over several launches in a row.
double kernel_time(const Trial& trial, void* stream) {
  constexpr int kSamples = 20;
  constexpr int kCalls = 10;
  const Event start;
  const Event stop;
  std::vector<double> times;
  for (int i = 0; i < kSamples; ++i) {
    start.record(stream);
    launch_often(trial, kCalls);
    stop.record(stream);
    wait_for(stream);
    times.push_back(stop.us_since(start) / kCalls);
  }
  return median(times);
}

/// Calls use(trial, selection) for each case that the library has a kernel for, after loading it.
template <typename Use>
void for_each_trial(const std::vector<Case>& cases, const Device& device, void* stream, Use use) {
  for (const Case& one : cases) {
    const Selection chosen = select(one.problem, strides_of(one), device);
    if (chosen.step == Step::refused) {
      continue;
    }
    const Trial trial(one, inputs_of(one.problem), stream);
    require(trial.launch(false));
    wait_for(stream);
    std::printf("%-50s  ", text_of(one).c_str());
    use(trial, chosen);
  }
}

void print_times(const Device& device, void* stream) {
  std::printf("host time of a call\n");
  for_each_trial(small_cases(), device, stream, [&](const Trial& trial, const Selection& chosen) {
    std::printf("%6.2f us  %s\n", host_time(trial, stream), chosen.config);
  });
  std::printf("time of tuned problems' kernels, one after the other; and the table's time\n");
  for_each_trial(tuned_cases(1), device, stream, [&](const Trial& trial, const Selection& chosen) {
    std::printf("%10.1f us  %10.1f us  %s\n", kernel_time(trial, stream), chosen.tuned_us,
                chosen.config);
  });
}

}  // namespace

int main(int count, char** arguments) {
  use_gpu(count == 3 && std::string(arguments[1]) == "--device" ? std::atoi(arguments[2]) : 0);
  Device device;
  require(current_device(device));
  const Stream stream;
  print_times(device, stream.get());
  return kRight;
}
