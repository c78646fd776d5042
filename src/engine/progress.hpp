#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "engine/run_log.hpp"
#include "model/options.hpp"
#include "model/report.hpp"

namespace fatune {

/// Prints the progress of a run to standard error: one line that is redrawn on a terminal;
/// elsewhere a line per problem, and one whenever none was printed for ten seconds; nothing when
/// quiet. The live line fits the terminal's current width. Lines say when no step has ended for
/// some seconds.
class Progress : public RunObserver {
 public:
  using Clock = std::chrono::steady_clock;

  /// What takes the run's time: its steps, or compiling its kernels, or emulating them too.
  enum class Work { steps, compilation, emulation };

  /// `total`: steps of the whole run; 0: another program decides how many there will be.
  /// `line_interval`: off a terminal, the longest time without a line.
  Progress(const OutputOptions& output, std::size_t total, Work work = Work::steps,
           std::chrono::milliseconds line_interval = std::chrono::seconds(10));

  /// Changes the total when there is more to do. `total`: steps of the whole run.
  void expect(std::size_t total);
  void begin_problem(const Problem& problem) override;
  void step() override;
  void expect_kernel() override;
  void compiled(double cpu_s) override { add(compiled_, cpu_s); }
  void emulated(double cpu_s) override { add(emulated_, cpu_s); }
  void end_problem(const ProblemReport& report) override;
  /// Wipes the live line, and prints nothing more on its own.
  void finish();

 private:
  /// Kernels of which a part of the work is done, and the CPU time that it took.
  struct Done {
    std::size_t kernels = 0;
    double cpu_s = 0.0;
  };

  void draw();
  void keep_alive(const std::stop_token& stop);
  [[nodiscard]] Clock::time_point next_line() const {
    return live_ ? std::max(last_drawn_, start_) + std::chrono::seconds(1)
                 : last_line_ + line_interval_;
  }
  void add(Done& done, double cpu_s);
  /// The CPU time that this part of the work will take for the other kernels.
  [[nodiscard]] double cpu_s_left(const Done& done) const;
  [[nodiscard]] std::optional<double> seconds_left() const;
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
  Clock::time_point last_step_ = start_;
  Clock::time_point last_line_ = start_;  ///< off a terminal
  Work work_;
  std::size_t kernels_ = 0;  ///< expected
  Done compiled_;
  Done emulated_;
  std::chrono::milliseconds line_interval_;
  std::condition_variable_any ended_;
  std::jthread printer_;  ///< must be last: it uses the other members
};

/// Formats "0:42" or "1:03:20". Hours are left out if there are none.
[[nodiscard]] std::string duration_text(std::chrono::seconds duration);

}  // namespace fatune
