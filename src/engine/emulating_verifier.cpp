#include "engine/emulating_verifier.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "emulation/finding_groups.hpp"
#include "engine/interrupt.hpp"
#include "plan/short_form.hpp"

namespace fatune {

EmulatingVerifier::EmulatingVerifier(const FamilySet& families, DeviceLimits limits,
                                     const EmulationSetup& setup)
    : families_(families),
      limits_(std::move(limits)),
      setup_(setup),
      inputs_(setup.seed),
      pool_(setup.jobs) {
  settings_.schedules = small_schedules(setup.seed);
  settings_.count_work = true;
  settings_.stopped = InterruptWatch::interrupted;
}

std::string EmulatingVerifier::begin(const Config& config, const Problem& problem,
                                     std::shared_ptr<const Artifact> artifact) {
  const Problem small = small_problem(problem);
  // A longer problem is also counted at a second length, so the key says so. A family's own
  // arguments may differ for the same code, so the key then names the configuration.
  const Family& family = families_.of(config);
  const bool longer = small.seq_len < problem.seq_len || small.seq_len_kv < problem.seq_len_kv;
  const std::optional<Problem> narrow = narrow_problem(problem);
  std::string key = fmt::format("{} {}{}{}{}", artifact->key, describe(small),
                                longer ? ", and longer" : "", narrow ? ", and narrow" : "",
                                family.arguments.standard ? "" : short_form(family, config));
  const std::lock_guard lock(mutex_);
  const auto [verdict, is_new] = verdicts_.try_emplace(key);
  if (is_new) {
    pool_.add([this, config, problem, artifact = std::move(artifact), &to = verdict->second] {
      EmulationVerdict found = emulate(config, problem, *artifact);
      const std::lock_guard writing(mutex_);
      to = std::move(found);
    });
  }
  return key;
}

std::optional<EmulationVerdict> EmulatingVerifier::verdict(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return verdicts_.at(key);
}

/// Emulates and judges a configuration. A failure of the emulator does not end the command; the
/// configuration is then not verified.
EmulationVerdict EmulatingVerifier::emulate(const Config& config, const Problem& problem,
                                            const Artifact& artifact) {
  try {
    return judge(emulate_small({families_.of(config), config, problem, limits_, setup_.cache},
                               &artifact, settings_, inputs_));
  } catch (const std::exception& error) {
    return {{}, std::nullopt, fmt::format("the emulator failed: {}", error.what())};
  }
}

EmulationVerdict EmulatingVerifier::judge(const SmallEmulation& emulated) const {
  const EmulatedConfig& row = emulated.row;
  const Verification verification = verification_of(emulated, settings_, setup_.seed);
  if (row.outcome == OutcomeKind::wrong_result) {
    return {verification, WrongResult{verification, row.detail}, {}};
  }
  if (row.outcome == OutcomeKind::flagged) {
    return {verification, Flagged{verification, findings_summary(row.findings, row.groups)}, {}};
  }
  if (row.outcome == OutcomeKind::right) {
    return {verification, std::nullopt, {}, emulated.work};
  }
  return {{}, std::nullopt, row.outcome == OutcomeKind::stopped ? "interrupted" : row.detail};
}

}  // namespace fatune
