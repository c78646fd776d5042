#include "measure/worker_settings.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "attention/flop.hpp"
#include "attention/input_kind.hpp"
#include "attention/problem.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/text_parts.hpp"

namespace fatune {
namespace {

constexpr double kSlowestFlopPerUs = 0.5e6;
constexpr const char* kVariable = "FATUNE_WATCHDOG_S";

double positive_seconds(std::string_view text) {
  constexpr double kMaxSeconds = 1e6;
  const double seconds = whole_number<double>(text).value_or(0.0);
  if (!(seconds > 0.0 && seconds <= kMaxSeconds)) {
    throw Error(ExitCode::usage, fmt::format("'{}' is not a number of seconds", text), kVariable,
                "it is the minimum time, in seconds, after which a kernel counts as hung, e.g. 5");
  }
  return seconds;
}

}  // namespace

void Deadlines::begin_problem(const Problem& problem) {
  allowance_us_ = literature_flop(problem) / kSlowestFlopPerUs;
  best_us_ = 0.0;
  probe_share_ = literature_flop(probe_problem(problem)) / literature_flop(problem);
}

void Deadlines::saw_sample(double sample_us) {
  best_us_ = best_us_ == 0.0 ? sample_us : std::min(best_us_, sample_us);
  allowance_us_ = settings_.times_best * best_us_;
}

std::chrono::milliseconds Deadlines::within(double runs) const {
  const std::chrono::duration<double, std::micro> allowed(allowance_us_ * runs);
  return settings_.floor + std::chrono::ceil<std::chrono::milliseconds>(allowed);
}

std::chrono::milliseconds Deadlines::runs(int count) const { return within(std::max(1, count)); }

std::chrono::milliseconds Deadlines::verification() const {
  return within(1.0 + static_cast<double>(kProbeKinds.size()) * probe_share_);
}

std::chrono::milliseconds Deadlines::counting(int runs) const {
  constexpr double kPasses = 50.0;
  return settings_.counting + within(kPasses * std::max(1, runs));
}

DeadlineSettings under_tool(const DeadlineSettings& settings) {
  constexpr int kTimes = 20;
  return {settings.start * kTimes, settings.problem * kTimes, settings.floor * kTimes,
          settings.times_best * kTimes, settings.counting * kTimes};
}

DeadlineSettings deadline_settings_from_environment() {
  DeadlineSettings settings;
  const auto text = environment_variable(kVariable);
  if (!text) {
    return settings;
  }
  settings.floor = std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(positive_seconds(*text)));
  settings.start = std::max(settings.start, settings.floor);
  settings.problem = std::max(settings.problem, settings.floor);
  return settings;
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kThisProgram = "/proc/self/exe";

std::string worker_program(bool launched) {
  if (const auto chosen = environment_variable("FATUNE_WORKER")) {
    return *chosen;
  }
  // The link stays usable after the program is rebuilt. Under a launcher it would name the
  // launcher.
  return launched ? fs::read_symlink(kThisProgram).string() : kThisProgram;
}

}  // namespace

WorkerSettings worker_settings(int device_ordinal, const std::vector<std::string>& launcher) {
  const bool launched = !launcher.empty();
  const DeadlineSettings deadlines = deadline_settings_from_environment();
  return {{worker_program(launched), launcher},
          device_ordinal,
          launched ? under_tool(deadlines) : deadlines};
}

}  // namespace fatune
