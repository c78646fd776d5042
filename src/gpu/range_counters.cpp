#include "gpu/range_counters.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/error.hpp"
#include "gpu/cupti_target.hpp"

namespace fatune::gpu {

#if FATUNE_HAS_RANGE_PROFILER

class RangeCounters::Session {
 public:
  Session(const Context& context, std::vector<std::string> metrics)
      : context_(context),
        metrics_(std::move(metrics)),
        cupti_(ready_cupti(context)),
        host_(cupti_, chip_name(cupti_, context.device_ordinal()),
              counter_availability(cupti_, raw(context)), metrics_),
        config_(host_.config()),
        passes_(host_.pass_count(config_)),
        target_(cupti_, raw(context)) {}

  [[nodiscard]] int passes() const noexcept { return passes_; }

  [[nodiscard]] std::vector<std::vector<double>> count(int runs, const CountedWork& work) {
    CuptiImage counter_data = target_.counter_data(host_.names(), runs);
    target_.configure(config_, counter_data, runs);
    run_passes(runs, work);
    const auto expected = static_cast<std::size_t>(runs);
    if (const std::size_t found = target_.decode(counter_data); found != expected) {
      throw Error(ExitCode::gpu_failure,
                  fmt::format("CUPTI counted {} launches instead of {}", found, runs));
    }
    std::vector<std::vector<double>> values;
    for (std::size_t run = 0; run < expected; ++run) {
      values.push_back(host_.values(counter_data, run));
    }
    return values;
  }

 private:
  [[nodiscard]] static CUcontext raw(const Context& context) {
    return static_cast<CUcontext>(context.get());
  }

  [[nodiscard]] static CuptiApi ready_cupti(const Context& context) {
    CuptiApi cupti = load_cupti();
    check_counters_supported(cupti, context.device_ordinal());
    return cupti;
  }

  void run_passes(int runs, const CountedWork& work) const {
    // The limit keeps a count that never finishes from hanging.
    const int most = 2 * passes_ + 1;
    for (int pass = 0; pass < most; ++pass) {
      if (run_pass(runs, work)) {
        return;
      }
    }
    throw Error(ExitCode::gpu_failure,
                fmt::format("CUPTI needs more than the {} passes that it announced", passes_));
  }

  [[nodiscard]] bool run_pass(int runs, const CountedWork& work) const {
    work.before_pass();
    target_.start();
    for (int run = 0; run < runs; ++run) {
      work.run();
    }
    context_.synchronize();
    return target_.stop();
  }

  const Context& context_;
  std::vector<std::string> metrics_;
  CuptiApi cupti_;
  CuptiHost host_;
  CuptiImage config_;
  int passes_;
  CuptiTarget target_;
};

#else

class RangeCounters::Session {
 public:
  Session(const Context&, const std::vector<std::string>&) {
    throw Error(ExitCode::gpu_failure,
                "fatune was built with a CUDA toolkit whose CUPTI has no range profiler", {},
                "build it with a toolkit of 12.6 or newer that has CUPTI's headers");
  }
  [[nodiscard]] int passes() const noexcept { return 0; }
  [[nodiscard]] std::vector<std::vector<double>> count(int, const CountedWork&) { return {}; }
};

#endif

RangeCounters::RangeCounters(const Context& context, std::vector<std::string> metrics)
    : session_(std::make_unique<Session>(context, std::move(metrics))) {}

RangeCounters::~RangeCounters() = default;

int RangeCounters::passes() const noexcept { return session_->passes(); }

std::vector<std::vector<double>> RangeCounters::count(int runs, const CountedWork& work) {
  return session_->count(runs, work);
}

}  // namespace fatune::gpu
