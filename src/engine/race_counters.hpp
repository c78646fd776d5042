#pragma once

#include <string>
#include <vector>

#include "core/arch.hpp"
#include "core/outcome.hpp"
#include "counters/counter_field.hpp"
#include "measure/measurer.hpp"

namespace fatune {

/// Reads the core figures of hardware counters beside a sweep's samples. A failure costs the
/// figures and nothing else.
class RaceCounters {
 public:
  /// For the first `most` of each problem's ranking, on a chip of that architecture. `measurer`
  /// must outlive it.
  RaceCounters(Measurer& measurer, Arch arch, int most);

  /// The number of results of a problem's ranking to count; 0 once it is known that counters cannot
  /// be read.
  [[nodiscard]] int most() const noexcept { return problem_.empty() ? most_ : 0; }
  /// Why counters cannot be read at all; empty as long as they can.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  struct Reading {
    std::vector<CounterValue> counters;  ///< averages over some runs; empty: see warning, problem()
    std::string warning;                 ///< what the candidate did; empty: nothing
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
