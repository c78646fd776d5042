#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "compile/compile_pool.hpp"
#include "core/candidate_id.hpp"

namespace fatune {

/// Which candidate a compile request is for.
struct CandidateKey {
  std::size_t problem = 0;
  CandidateId candidate{};
};

/// A candidate whose compilation has ended.
struct CompiledCandidate {
  CandidateId id{};
  std::shared_ptr<const CompileResult> result;
};

/// Compiles for all problems at once, and sorts what is ready by problem. Any thread may ask.
class CompileFeed {
 public:
  /// `owners`: of the requests, one by one; problems count from 0 to `problems` - 1.
  CompileFeed(std::vector<CompileRequest> requests, std::vector<CandidateKey> owners,
              std::size_t problems, CompilePool::CompileFunction compile_one, int jobs);
  CompileFeed(const CompileFeed&) = delete;
  CompileFeed& operator=(const CompileFeed&) = delete;
  CompileFeed(CompileFeed&&) = delete;
  CompileFeed& operator=(CompileFeed&&) = delete;
  ~CompileFeed();  ///< cancels, then waits for the compilations under way

  /// The next candidate of the problem that is ready, within the time; nothing when there is none.
  [[nodiscard]] std::optional<CompiledCandidate> take(std::size_t problem,
                                                      std::chrono::milliseconds within);
  /// No further compilation starts.
  void cancel() { pool_.cancel(); }
  /// Seconds from the start to the last compilation so far.
  [[nodiscard]] double compiling_s() const;

 private:
  using Clock = std::chrono::steady_clock;

  void sort_results();

  Clock::time_point start_ = Clock::now();
  std::vector<CandidateKey> owners_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::deque<CompiledCandidate>> ready_;  ///< by problem
  Clock::time_point last_arrival_ = start_;
  CompilePool pool_;
  std::jthread sorter_;
};

}  // namespace fatune
