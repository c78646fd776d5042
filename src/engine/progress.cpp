#include "engine/progress.hpp"

#include <unistd.h>
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/visible_text.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "print/console.hpp"

namespace fatune {
namespace {

constexpr const char* kWipeLine = "\r\x1b[K";
constexpr std::size_t kUsualColumns = 80;
constexpr std::chrono::seconds kStill{5};  ///< lines say how long it is since the last step

std::string best_text(const ProblemReport& report) {
  return report.ranking.empty()
             ? "nothing ranked"
             : fmt::format("best {:.1f} us", ranked_us(report.ranking.front().outcome));
}

}  // namespace

std::string duration_text(std::chrono::seconds duration) {
  const auto seconds = duration.count();
  return seconds < 3600
             ? fmt::format("{}:{:02}", seconds / 60, seconds % 60)
             : fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

Progress::Progress(const OutputOptions& output, std::size_t total, Work work,
                   std::chrono::milliseconds line_interval)
    : live_(output.live_progress && output.verbosity != Verbosity::quiet),
      quiet_(output.verbosity == Verbosity::quiet),
      columns_variable_(output.columns_variable),
      total_(total),
      work_(work),
      line_interval_(line_interval) {
  if (!quiet_) {
    printer_ = std::jthread([this](const std::stop_token& stop) { keep_alive(stop); });
  }
}

/// Prints a line, or redraws it, whenever that was not done for an interval.
void Progress::keep_alive(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const Clock::time_point due = next_line();
    if (Clock::now() >= due && live_) {
      draw();
    } else if (Clock::now() >= due) {
      last_line_ = Clock::now();
      print_diagnostic(status() + "\n");
    } else {
      ended_.wait_until(lock, stop, due, [] { return false; });
    }
  }
}

std::string Progress::count() const {
  return total_ == 0 ? fmt::format("[{}]", done_) : fmt::format("[{}/{}]", done_, total_);
}

double Progress::cpu_s_left(const Done& done) const {
  const std::size_t left = kernels_ - std::min(kernels_, done.kernels);
  return done.cpu_s / static_cast<double>(std::max<std::size_t>(done.kernels, 1)) *
         static_cast<double>(left);
}

/// Returns the time left. Steps are assumed to take as long as before, and so is each part of the
/// work on a kernel. Many configurations may share a kernel, so their number says little about the
/// work. Nothing until something of each part is done.
std::optional<double> Progress::seconds_left() const {
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  if (work_ == Work::steps) {
    return done_ == 0 ? std::nullopt
                      : std::optional(elapsed.count() / static_cast<double>(done_) *
                                      static_cast<double>(total_ - std::min(total_, done_)));
  }
  if (compiled_.kernels == 0 || (work_ == Work::emulation && emulated_.kernels == 0)) {
    return done_ < total_ ? std::nullopt : std::optional(0.0);
  }
  double left_s = cpu_s_left(compiled_);
  if (work_ == Work::emulation) {
    left_s += cpu_s_left(emulated_);
  }
  const double per_cpu_s = elapsed.count() / std::max(compiled_.cpu_s + emulated_.cpu_s, 1e-3);
  return left_s * per_cpu_s;
}

/// Returns the time left as text: "ETA 0:42", "ETA ?"; empty if the total is unknown.
std::string Progress::remaining() const {
  if (total_ == 0) {
    return {};
  }
  const auto left_s = seconds_left();
  return left_s ? "ETA " + duration_text(std::chrono::seconds(std::lround(*left_s))) : "ETA ?";
}

std::string Progress::status() const {
  const std::string eta = remaining();
  const auto still = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - last_step_);
  const std::string waiting = still < kStill ? "" : ", no step for " + duration_text(still);
  return fmt::format("{} {}{}{}{}", count(), problem_, problem_.empty() || eta.empty() ? "" : ", ",
                     eta, waiting);
}

/// Returns the status, without the problem if the terminal is too narrow for it. The last column
/// stays free, because a cursor behind it would be in the next line.
std::string Progress::live_line() const {
  const std::size_t columns = terminal_columns(STDERR_FILENO, columns_variable_);
  const std::size_t room = (columns == 0 ? kUsualColumns : columns) - 1;
  const std::string whole = status();
  return width_of(whole) <= room ? whole : shortened(count() + " " + remaining(), room);
}

void Progress::draw() {
  constexpr auto kRedrawInterval = std::chrono::milliseconds(100);
  if (live_ && Clock::now() - last_drawn_ >= kRedrawInterval) {
    last_drawn_ = Clock::now();
    print_diagnostic(kWipeLine + live_line());
  }
}

void Progress::expect(std::size_t total) {
  const std::lock_guard lock(mutex_);
  total_ = total;
}

void Progress::begin_problem(const Problem& problem) {
  const std::lock_guard lock(mutex_);
  problem_ = describe(problem);
  draw();
}

void Progress::step() {
  const std::lock_guard lock(mutex_);
  ++done_;
  last_step_ = Clock::now();
  draw();
}

void Progress::expect_kernel() {
  const std::lock_guard lock(mutex_);
  ++kernels_;
}

void Progress::add(Done& done, double cpu_s) {
  const std::lock_guard lock(mutex_);
  ++done.kernels;
  last_step_ = Clock::now();
  done.cpu_s += cpu_s;
  draw();
}

void Progress::end_problem(const ProblemReport& report) {
  const std::lock_guard lock(mutex_);
  problem_ = describe(report.problem);
  last_line_ = Clock::now();
  if (quiet_) {
    return;
  }
  print_diagnostic(fmt::format("{}{}: {} ranked, {} failed, {}\n", live_ ? kWipeLine : "", status(),
                               report.ranking.size(), count_failed(report), best_text(report)));
}

void Progress::finish() {
  printer_ = {};
  if (live_) {
    print_diagnostic(kWipeLine);
  }
}

}  // namespace fatune
