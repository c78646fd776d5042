#pragma once

#include <string>
#include <vector>

#include "core/arch.hpp"
#include "core/outcome.hpp"
#include "counters/counter_fields.hpp"
#include "measure/measurer.hpp"

namespace fatune {

/// Reads the core figures of hardware counters in addition to a sweep's samples. A failure loses
/// the figures and has no other effect.
class RaceCounters {
 public:
  /// Reads them for the first `most` results of each problem's ranking, on a chip of architecture
  /// `arch`. `measurer` must outlive this.
  RaceCounters(Measurer& measurer, Arch arch, int most);

  /// The number of results of a problem's ranking to count; 0 once it is known that counters cannot
  /// be read.
  [[nodiscard]] int most() const noexcept { return problem_.empty() ? most_ : 0; }
  /// The reason why counters cannot be read at all; empty as long as they can.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  struct Reading {
    std::vector<CounterValue> counters;  ///< averages over some runs; empty: see warning, problem()
    std::string warning;                 ///< why this candidate has none; empty: no failure
  };
  /// Reads the counters of an admitted candidate. Precondition: most() > 0.
  [[nodiscard]] Reading read(CandidateId id);

 private:
  Measurer& measurer_;
  std::vector<CounterField> fields_;
  CountRequest request_;
  int most_;
  std::string problem_;
};

}  // namespace fatune
