#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/candidate_list.hpp"
#include "race/race_policy.hpp"
#include "race/race_state.hpp"

namespace fatune {

/// What a candidate reached in a turn in which it ran alone.
struct SustainedTurn {
  double us = 0.0;      ///< time of a launch in microseconds, once the clock had settled
  double sm_mhz = 0.0;  ///< SM clock meanwhile; 0: not known
};

/// The last stage of a race at the power cap (docs/racing.md): the candidates that are nearly as
/// fast as the winner run alone, in turns, and the time that each sustains ranks them. All are in
/// the first round, and the fastest of it are in the second one, in reverse order, so that a chip
/// that becomes warmer affects them alike. It takes no samples and reads no clock: the same calls
/// give the same answers.
class SustainedFinal {
 public:
  /// No final, for this reason.
  explicit SustainedFinal(std::string skipped_because)
      : skipped_because_(std::move(skipped_because)) {}
  /// Chooses the finalists of a race that has ended: the winner and those within sustained_margin
  /// of it, the first most_sustained of them, or as many as the budget has time for. There is no
  /// final if that leaves one. `elapsed_s`: the time spent on the problem so far.
  SustainedFinal(const std::vector<Standing>& standings, const RacePolicy& policy,
                 double elapsed_s);

  /// The candidate whose turn it is. Empty: the final is over, or there is none.
  [[nodiscard]] std::optional<CandidateId> next() const;
  /// Records the turn of next(). Throws std::bad_optional_access if it is nobody's.
  void record(const SustainedTurn& turn);
  /// Once the final is over, gives the finalists their sustained times and the first places, in the
  /// order of these. A finalist shares the tie group of a faster one if its fastest turn is not
  /// slower than the slowest turn of the group's first. If there is no final, notes the reason.
  void rank(RaceResult& result) const;

 private:
  void choose_second_round();

  std::string skipped_because_{};
  std::size_t most_twice_ = 0;
  std::size_t finalists_ = 0;
  std::vector<CandidateId> order_{};  ///< of the turns: the finalists, then the second round
  std::map<CandidateId, std::vector<SustainedTurn>> turns_{};
  std::size_t taken_ = 0;  ///< turns of all finalists
};

}  // namespace fatune
