#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/option_groups.hpp"

namespace fatune {
namespace {

constexpr int kExhaustiveWarmup = 10;

/// The options that were given; the others follow from the strategy.
struct GivenPolicy {
  std::optional<Strategy> strategy;
  std::optional<int> warmup;
  std::optional<int> repeats;
  bool parts = true;
};

/// Sets the policy. Without --strategy, --repeats selects the exhaustive strategy, because only
/// that one takes a fixed number of samples of each configuration.
void settle(const GivenPolicy& given, Strategy otherwise, MeasurePolicy& policy) {
  if (given.repeats && given.strategy == Strategy::race) {
    throw Error(ExitCode::usage, "a race takes as many samples as it needs", "--repeats",
                "leave it out, or choose --strategy exhaustive");
  }
  policy.strategy = given.strategy.value_or(given.repeats ? Strategy::exhaustive : otherwise);
  policy.parts = given.parts && policy.strategy == Strategy::race;
  policy.repeats = given.repeats.value_or(policy.repeats);
  policy.warmup =
      given.warmup.value_or(policy.strategy == Strategy::exhaustive ? kExhaustiveWarmup : 0);
}

bool read_parts(const std::string& text) {
  if (text != "auto" && text != "off") {
    throw Error(ExitCode::usage, "there is no mode '" + text + "'", "--parts",
                "auto races on a part of a problem first when a launch is long, off never does");
  }
  return text == "auto";
}

void add_strategy_options(CLI::App& app, GivenPolicy& given, MeasurePolicy& policy,
                          Strategy otherwise) {
  constexpr double kMostSeconds = 1e9;
  constexpr double kPercent = 100.0;
  add_value(
      app, "--strategy", "race|exhaustive",
      "give samples to configurations that can still win, or the same number to each (default: " +
          std::string(enum_name(otherwise)) + ")",
      given.strategy, [](const std::string& text) {
        return parse_enum<Strategy>(text, ExitCode::usage, "--strategy",
                                    "strategies are race and exhaustive");
      });
  add_integer(app, "--repeats",
              "samples per configuration; implies --strategy exhaustive (default there: 64)", 1,
              kMostSamples, given.repeats);
  add_integer(app, "--warmup",
              "samples of each configuration that are discarded first (default: 10; in a race 0)",
              0, kMostSamples, given.warmup);
  add_number(app, "--budget", "SECONDS", "end the races after this time (default: no limit)", 1e-3,
             kMostSeconds, policy.budget_s);
  add_number(app, "--target-ci", "PERCENT",
             "end a race when the winner's interval is within this of its median (default: 0.5)",
             1e-3, 50.0, policy.target_ci, kPercent);
  add_value(app, "--parts", "auto|off",
            "race on a part of the problem first when a launch is long (default: auto)",
            given.parts, read_parts);
  add_number(app, "--confidence", "PERCENT", "confidence of the reported intervals (default: 95)",
             50.0, 99.9, policy.confidence, kPercent);
}

void read_l2(const std::string& text, MeasurePolicy& policy) {
  if (text != "cold" && text != "warm") {
    throw Error(ExitCode::usage, "there is no L2 mode '" + text + "'", "--l2",
                "modes are cold (flushed before each sample) and warm");
  }
  policy.flush_l2 = text == "cold";
}

void add_sample_options(CLI::App& app, MeasurePolicy& policy) {
  auto* l2 =
      add_text_option(app, "--l2", "cold|warm", "L2 cache before each sample (default: cold)",
                      [&](const std::string& text) { read_l2(text, policy); });
  app.add_flag_callback(
         "--no-flush", [&] { policy.flush_l2 = false; }, "the same as --l2 warm")
      ->excludes(l2);
  app.add_flag("--graph", policy.cuda_graph, "launch as a CUDA graph of one kernel");
  app.add_flag_callback(
      "--no-gate", [&] { policy.device_gate = false; },
      "do not hold the GPU until the host has queued a sample");
  add_integer(app, "--seed", "seed of the random inputs and the order of the samples (default: 1)",
              0, std::numeric_limits<std::int64_t>::max(), policy.seed);
}

/// Returns the names of the given options that only a run which times something heeds.
std::vector<std::string> given_for_times(const CLI::App& app) {
  constexpr std::array kForTimes{
      "--strategy",   "--repeats", "--warmup",   "--budget", "--target-ci", "--parts",
      "--confidence", "--l2",      "--no-flush", "--graph",  "--no-gate",   "--no-wait",
      "--fresh",      "--reuse",   "--audit",    "--runs",   "--counters"};
  std::vector<std::string> given;
  for (const char* const name : kForTimes) {
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option != nullptr && option->count() > 0) {
      given.emplace_back(name);
    }
  }
  return given;
}

}  // namespace

void add_counters_option(CLI::App& app, int& counters) {
  const OptionScope scope(app, option_group::kMeasuring);
  constexpr const char* kDefaultCount = "8";
  add_integer(app, "--counters",
              "also read hardware counters of the first N of each ranking, after its samples "
              "(without a number: 8)",
              1, kMostSamples, counters)
      ->expected(0, 1)
      ->default_str(kDefaultCount);
}

void add_policy_options(CLI::App& app, MeasureOptions& options, Strategy otherwise) {
  const OptionScope scope(app, option_group::kMeasuring);
  auto given = std::make_shared<GivenPolicy>();
  add_strategy_options(app, *given, options.policy, otherwise);
  add_sample_options(app, options.policy);
  app.parse_complete_callback([given, otherwise, &app, &options] {
    settle(*given, otherwise, options.policy);
    options.given_for_times = given_for_times(app);
  });
}

}  // namespace fatune
