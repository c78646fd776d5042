#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "race/race.hpp"

namespace fatune::simulation {

using Random = std::mt19937_64;

/// A model of a GPU. It determines the time of the n-th sample for a candidate of known speed.
struct Chip {
  /// A random factor for each sample. Its median is 1, and its distribution is the same for every
  /// candidate.
  std::function<double(Random&)> noise = [](Random&) { return 1.0; };
  /// The state of the chip at the n-th sample of the race: a factor that does not depend on the
  /// candidate.
  std::function<double(std::int64_t, Random&)> state = [](std::int64_t, Random&) { return 1.0; };
  /// The state of the chip when a candidate is admitted, also a factor.
  std::function<double(Random&)> admission_state = [](Random&) { return 1.0; };
  /// The ratio of a candidate's time on the part of the problem to that on the whole.
  std::function<double(std::size_t)> part_ratio = [](std::size_t) { return 0.25; };
  /// True if the n-th sample is throttled.
  std::function<bool(std::int64_t)> throttled = [](std::int64_t) { return false; };
};

std::function<double(Random&)> normal_noise(double relative_sigma);
/// Normal noise, but one sample in ten is slower, by up to several times.
std::function<double(Random&)> spiky_noise(double relative_sigma);

/// Runs `race` to its end. `true_us` has the true median of each candidate. Each sample takes its
/// own time plus `overhead_us`. Throws std::logic_error if the race waits for more candidates.
RaceResult run(Race& race, const std::vector<double>& true_us, const Chip& chip, std::uint64_t seed,
               double overhead_us = 0.0);
/// Admits all candidates at the start, then runs the race.
RaceResult run(const RacePolicy& policy, const std::vector<double>& true_us, const Chip& chip,
               std::uint64_t seed);

/// The same, but each candidate has an admission sample, on the part if the policy has one.
RaceResult run_admitted(const RacePolicy& policy, const std::vector<double>& true_us,
                        const Chip& chip, std::uint64_t seed);

RacePolicy racing_policy(std::uint64_t seed = 1);
/// Admits one more candidate. Candidates are numbered from 0.
CandidateId join(Race& race, std::optional<double> admission_us = {}, bool kept_in = false);
/// The index of the candidate with place 1.
std::size_t winner_of(const RaceResult& result);

}  // namespace fatune::simulation
