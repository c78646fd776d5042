#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "race/race.hpp"

namespace fatune::simulation {

using Random = std::mt19937_64;

/// A GPU in numbers: what a sample of a candidate of known speed reads at the n-th sample.
struct Chip {
  /// A factor about 1; its median is 1, and the same for every candidate.
  std::function<double(Random&)> noise = [](Random&) { return 1.0; };
  /// The state of the chip at the n-th sample of the race: a factor, drawn before it is known whose
  /// sample it will be.
  std::function<double(std::int64_t, Random&)> state = [](std::int64_t, Random&) { return 1.0; };
  /// The state of the chip when a candidate was admitted: a factor again.
  std::function<double(Random&)> admission_state = [](Random&) { return 1.0; };
  /// The time of a candidate on the part of the problem, over that on the whole.
  std::function<double(std::size_t)> part_ratio = [](std::size_t) { return 0.25; };
  /// Whether the n-th sample is taken under throttling.
  std::function<bool(std::int64_t)> throttled = [](std::int64_t) { return false; };
};

std::function<double(Random&)> normal_noise(double relative_sigma);
/// Mostly normal; one sample in ten is slower by up to several times.
std::function<double(Random&)> spiky_noise(double relative_sigma);

/// Runs `race` (already admitted and closed, or not) to its end: true medians by candidate. Each
/// sample takes its own time plus `overhead_us`.
RaceResult run(Race& race, const std::vector<double>& true_us, const Chip& chip, std::uint64_t seed,
               double overhead_us = 0.0);
/// All candidates from the start.
RaceResult run(const RacePolicy& policy, const std::vector<double>& true_us, const Chip& chip,
               std::uint64_t seed);

/// All candidates from the start, each with an admission sample: on the part, if there is one.
RaceResult run_admitted(const RacePolicy& policy, const std::vector<double>& true_us,
                        const Chip& chip, std::uint64_t seed);

RacePolicy racing_policy(std::uint64_t seed = 1);
/// Admits one more candidate; they count from 0.
CandidateId join(Race& race, std::optional<double> admission_us = {}, bool kept_in = false);
/// The index of the candidate with place 1.
std::size_t winner_of(const RaceResult& result);

}  // namespace fatune::simulation
