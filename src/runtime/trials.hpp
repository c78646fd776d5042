#pragma once

// Trials: configurations with nearly the least predicted time are launched by turns for a caller's
// own calls, which are timed on the GPU, until it is known which is the fastest there.

#include <array>
#include <mutex>

#include "selection.hpp"
#include "trial_rounds.hpp"

namespace fatune_attention::detail {

/// The events around the launches of one round.
class TrialEvents {
 public:
  TrialEvents() = default;
  TrialEvents(const TrialEvents&) = delete;
  TrialEvents& operator=(const TrialEvents&) = delete;
  ~TrialEvents() { release(); }

  /// Each returns false if the driver fails.
  bool begin(int candidate, void* stream);
  bool end(int candidate, void* stream);
  /// The time between begin() and end(). Returns false while it is not known, or if the driver
  /// fails.
  bool find_us(int candidate, double& us, bool& failed);
  void release();

 private:
  struct Pair {
    void* begin = nullptr;
    void* end = nullptr;
  };
  std::array<Pair, kMostCandidates> pairs_;
};

/// The trial of one problem after another that have a trial_key() in common.
struct Trial {
  MemoKey key{};      ///< a trial_key(); all 0: unused
  MemoKey problem{};  ///< the memo_key() of the problem that the selections are for
  Selections selections;
  TrialRounds rounds;
  TrialEvents events;
  bool has_ended = false;

  /// Goes on with another problem that has the same trial_key(). Returns false, and changes
  /// nothing, if a kernel that it needs cannot be used for it: the winner's, if the trial has
  /// ended.
  bool change_to(const MemoKey& memo_key, const Problem& problem_of_key, const Request& request);
  /// The selection to launch where nothing is tried: the fastest so far. It has been launched
  /// before, unless nothing has.
  [[nodiscard]] Selection leading() const;
};

/// The trials of this process, the last of a few hundred problems. Callers lock `mutex` as long as
/// they use one.
class Trials {
 public:
  /// Returns the one with this trial_key(), or null.
  Trial* find(const MemoKey& key);
  /// Returns a trial to begin: that with this key, or the oldest one.
  Trial& place_for(const MemoKey& key);

  std::mutex mutex;

 private:
  static constexpr int kMost = 256;
  std::array<Trial, kMost> all_;
  int next_ = 0;
};

/// Null: out of memory.
Trials* trials();

/// Begins a trial.
void begin(Trial& trial, const MemoKey& key, const MemoKey& problem, const Selections& selections);

/// Ends the round if the times of all its launches are known, and the trial if the driver fails.
/// Returns the number of the candidate to launch next; -1: none as yet, or none any more.
int next_candidate(Trial& trial);

/// Ends a trial: the fastest so far has won.
void end(Trial& trial);

/// Whether work on the stream is being captured into a graph. Then nothing can be timed.
bool is_capturing(void* stream);

}  // namespace fatune_attention::detail
