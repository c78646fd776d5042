#pragma once

// Decides between a few configurations by the times of a caller's own launches, taken in rounds: in
// each, every candidate that is left is launched once. Needs no GPU.

#include <array>
#include <cstddef>

#include "attention.hpp"

namespace fatune_attention::detail {

/// The rounds of one problem. Calls may differ in their lengths of keys, in what else the GPU does
/// and in what is cached, so that only times of one round are compared with each other.
class TrialRounds {
 public:
  static constexpr int kRounds = 6;  ///< the first warms up: its times do not count

  /// candidates: 1 to kMostCandidates. Candidate 0 is the one to prefer.
  explicit TrialRounds(int candidates = 1);

  /// The candidate to launch next in this round, or -1 if all have been launched.
  [[nodiscard]] int next() const;
  /// next() has been launched.
  void launched() { ++launched_; }
  /// The time of a candidate that was launched in this round, more than 0.
  void set_time(int candidate, double us) { times_[index(round_)][index(candidate)] = us; }
  /// Whether times of this round count.
  [[nodiscard]] bool counts() const { return round_ > 0; }
  [[nodiscard]] bool is_left(int candidate) const { return is_left_[index(candidate)]; }
  /// Ends the round, all times of which are set: candidates that are far behind are left out.
  void end_round();
  /// Whether the winner is known: no candidate need be launched any more.
  [[nodiscard]] bool ended() const { return round_ == kRounds || left() <= 1; }
  /// The fastest so far. Candidate 0, unless another one is faster by more than times are
  /// uncertain.
  [[nodiscard]] int fastest() const;

 private:
  using Times = std::array<double, kMostCandidates>;

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] int left() const;
  [[nodiscard]] Times scores() const;

  int candidates_;
  std::array<bool, kMostCandidates> is_left_{};
  std::array<Times, kRounds> times_{};  ///< by round
  int round_ = 0;
  int launched_ = 0;  ///< of those left, in this round
};

}  // namespace fatune_attention::detail
