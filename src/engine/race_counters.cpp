#include "engine/race_counters.hpp"

#include <spdlog/spdlog.h>

#include "core/error.hpp"
#include "counters/counter_fields.hpp"

namespace fatune {
namespace {

// Runs share their passes over the counters, so more than one run costs little.
constexpr int kRuns = 3;

}  // namespace

RaceCounters::RaceCounters(Measurer& measurer, Arch arch, int most)
    : measurer_(measurer),
      fields_(counter_fields(CounterSet::core)),
      request_{kRuns, hardware_metrics(fields_, arch.sm)},
      most_(most) {}

RaceCounters::Reading RaceCounters::read(CandidateId id) {
  Reading reading;
  try {
    const Counted counted = measurer_.count(id, request_);
    if (counted.failure) {
      reading.warning = "no hardware counters: " + outcome_summary(*counted.failure);
    }
    for (const auto& [name, value] : derive_averages(fields_, counted.runs)) {
      reading.counters.push_back({name, value});
    }
  } catch (const Error& error) {
    problem_ = error.what();
    spdlog::warn("no hardware counters: {}", problem_);
  }
  return reading;
}

}  // namespace fatune
