#include "app/console/progress.hpp"

#include <unistd.h>

#include <cmath>

#include <fmt/format.h>

#include "app/console/console.hpp"
#include "app/console/terminal_width.hpp"
#include "attention/problem.hpp"
#include "core/outcome.hpp"
#include "core/text_fit.hpp"

namespace fatune {
namespace {

constexpr const char* kWipeLine = "\r\x1b[K";
constexpr std::size_t kUsualColumns = 80;

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

Progress::Progress(const OutputOptions& output, std::size_t total)
    : live_(output.live_progress && output.verbosity != Verbosity::quiet),
      quiet_(output.verbosity == Verbosity::quiet),
      columns_variable_(output.columns_variable),
      total_(total) {}

std::string Progress::count() const {
  return total_ == 0 ? fmt::format("[{}]", done_) : fmt::format("[{}/{}]", done_, total_);
}

/// Returns the time left, which assumes that the rest takes as long per step as before. It is
/// unknown until a step is done, and empty if the total is unknown.
std::string Progress::remaining() const {
  if (total_ == 0) {
    return {};
  }
  if (done_ == 0) {
    return "ETA ?";
  }
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  const double per_step_s = elapsed.count() / static_cast<double>(done_);
  const double left_s = per_step_s * static_cast<double>(total_ - done_);
  return "ETA " + duration_text(std::chrono::seconds(std::lround(left_s)));
}

std::string Progress::status() const {
  const std::string eta = remaining();
  return fmt::format("{} {}{}{}", count(), problem_, problem_.empty() || eta.empty() ? "" : ", ",
                     eta);
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
  draw();
}

void Progress::end_problem(const ProblemReport& report) {
  const std::lock_guard lock(mutex_);
  problem_ = describe(report.problem);
  if (quiet_) {
    return;
  }
  print_diagnostic(fmt::format("{}{}: {} ranked, {} failed, {}\n", live_ ? kWipeLine : "", status(),
                               report.ranking.size(), count_failed(report), best_text(report)));
}

void Progress::finish() {
  if (live_) {
    print_diagnostic(kWipeLine);
  }
}

}  // namespace fatune
