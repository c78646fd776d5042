#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "app/option_groups.hpp"
#include "engine/run_observer.hpp"
#include "report/report.hpp"

namespace fatune {

/// Prints the progress of a run to standard error: one line that is redrawn on a terminal, a line
/// per problem elsewhere, nothing when quiet. The live line fits the terminal's current width.
class Progress : public RunObserver {
 public:
  using Clock = std::chrono::steady_clock;

  /// `total`: steps of the whole run; 0: another program decides how many there will be.
  Progress(const OutputOptions& output, std::size_t total);

  /// Changes the total when there is more to do. `total`: steps of the whole run.
  void expect(std::size_t total);
  void begin_problem(const Problem& problem) override;
  void step() override;
  void end_problem(const ProblemReport& report) override;
  /// Wipes the live line.
  void finish();

 private:
  void draw();
  [[nodiscard]] std::string count() const;
  [[nodiscard]] std::string status() const;
  [[nodiscard]] std::string live_line() const;
  [[nodiscard]] std::string remaining() const;

  std::mutex mutex_;
  bool live_;
  bool quiet_;
  std::size_t columns_variable_;
  std::size_t total_;
  std::size_t done_ = 0;
  std::string problem_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_drawn_;
};

/// Formats "0:42" or "1:03:20". Hours are left out if there are none.
[[nodiscard]] std::string duration_text(std::chrono::seconds duration);

}  // namespace fatune
