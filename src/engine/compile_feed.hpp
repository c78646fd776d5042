#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compile/compiler.hpp"
#include "core/candidate_list.hpp"
#include "core/task_pool.hpp"

namespace fatune {

/// The candidate that a compile request is for.
struct CandidateKey {
  std::size_t problem = 0;
  CandidateId candidate{};
};

/// A candidate whose compilation has ended.
struct CompiledCandidate {
  CandidateId id{};
  std::shared_ptr<const CompileResult> result;
};

/// Compiles for all problems on several threads, and sorts finished candidates by problem. Requests
/// with the same artifact_key are compiled once. An exception of the compiler becomes
/// CompileFailed. All functions may be called from any thread.
class CompileFeed {
 public:
  /// `order`: the numbers of all problems, counted from 0. Requests for the first one are compiled
  /// before requests for the second one, and so on.
  CompileFeed(const std::vector<std::size_t>& order, CompileFunction compile_one, int jobs);
  CompileFeed(const CompileFeed&) = delete;
  CompileFeed& operator=(const CompileFeed&) = delete;
  ~CompileFeed();  ///< cancels, then waits for the compilations under way

  /// Requests the machine code of a candidate. take() returns it. Returns whether it is the first
  /// request for this code.
  bool add(const CandidateKey& owner, CompileRequest request);
  /// Returns the next candidate of the problem that is ready. Waits at most for `within`. Empty:
  /// there is none.
  [[nodiscard]] std::optional<CompiledCandidate> take(std::size_t problem,
                                                      std::chrono::milliseconds within);
  /// Keeps further compilations from starting.
  void cancel();
  /// The number of compilations that can run at a time.
  [[nodiscard]] std::size_t jobs() const noexcept { return jobs_; }
  /// Seconds from the start to the last compilation so far.
  [[nodiscard]] double compiling_s() const;

 private:
  using Clock = std::chrono::steady_clock;

  /// One compilation, shared by all its owners.
  struct Job {
    CompileRequest request;
    std::vector<CandidateKey> owners;  ///< candidates that wait for the result
    bool begun = false;
    std::shared_ptr<const CompileResult> result;  ///< null before it is compiled
  };

  void work(Job& job);
  void hand_over(Job& job);

  const CompileFunction compile_one_;
  const std::size_t jobs_;
  const Clock::time_point start_ = Clock::now();
  std::vector<std::size_t> rank_;  ///< each problem's place in the order
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::string, Job> by_key_;
  std::vector<std::deque<CompiledCandidate>> ready_;  ///< indexed by problem
  Clock::time_point last_arrival_ = start_;
  std::atomic<bool> cancelled_ = false;
  TaskPool pool_;  ///< must be last: its tasks use the other members
};

}  // namespace fatune
