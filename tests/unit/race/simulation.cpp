#include "unit/race/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace fatune::simulation {

std::function<double(Random&)> normal_noise(double relative_sigma) {
  return [=](Random& random) {
    return std::exp(std::normal_distribution<>(0.0, relative_sigma)(random));
  };
}

std::function<double(Random&)> spiky_noise(double relative_sigma) {
  return [=](Random& random) {
    const double spike = std::bernoulli_distribution(0.1)(random)
                             ? std::abs(std::cauchy_distribution<>(0.0, 0.1)(random))
                             : 0.0;
    return std::exp(std::normal_distribution<>(0.0, relative_sigma)(random)) + spike;
  };
}

RaceResult run(Race& race, const std::vector<double>& true_us, const Chip& chip, std::uint64_t seed,
               double overhead_us) {
  Random random(seed);
  double elapsed_us = 0.0;
  std::int64_t count = 0;
  for (Step step = race.next(0.0); step.kind != Step::Kind::finished;
       step = race.next(elapsed_us * 1e-6)) {
    if (step.kind == Step::Kind::wait) {
      throw std::logic_error("the race waits for candidates that will not come");
    }
    const double state = chip.state(count, random);
    const std::size_t candidate = step.candidate.index;
    const double ratio = step.on_part ? chip.part_ratio(candidate) : 1.0;
    const double sample_us = true_us.at(candidate) * ratio * state * chip.noise(random);
    race.record(sample_us, chip.throttled(count));
    elapsed_us += sample_us + overhead_us;
    ++count;
  }
  return race.result();
}

RaceResult run(const RacePolicy& policy, const std::vector<double>& true_us, const Chip& chip,
               std::uint64_t seed) {
  Race race(policy);
  for (std::size_t i = 0; i < true_us.size(); ++i) {
    race.admit({i});
  }
  race.close();
  return run(race, true_us, chip, seed);
}

RaceResult run_admitted(const RacePolicy& policy, const std::vector<double>& true_us,
                        const Chip& chip, std::uint64_t seed) {
  Random random(seed + 1);
  Race race(policy);
  for (std::size_t i = 0; i < true_us.size(); ++i) {
    const double ratio = policy.part_share ? chip.part_ratio(i) : 1.0;
    race.admit({i}, true_us[i] * ratio * chip.admission_state(random) * chip.noise(random));
  }
  race.close();
  return run(race, true_us, chip, seed);
}

RacePolicy racing_policy(std::uint64_t seed) {
  RacePolicy policy;
  policy.strategy = Strategy::race;
  policy.seed = seed;
  return policy;
}

CandidateId join(Race& race, std::optional<double> admission_us, bool kept_in) {
  const CandidateId id{race.result().standings.size()};
  race.admit(id, admission_us, kept_in);
  return id;
}

std::size_t winner_of(const RaceResult& result) {
  const auto first = std::find_if(result.standings.begin(), result.standings.end(),
                                  [](const Standing& candidate) { return candidate.place == 1; });
  if (first == result.standings.end()) {
    throw std::logic_error("a race without a winner");
  }
  return first->candidate.index;
}

}  // namespace fatune::simulation
