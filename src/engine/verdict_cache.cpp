#include "engine/emulating_verifier.hpp"

#include <exception>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/sha256.hpp"
#include "base/version.hpp"
#include "engine/interrupt.hpp"
#include "model/record_reader.hpp"
#include "model/record_writer.hpp"
#include "plan/config_text.hpp"
#include "proof/findings.hpp"

namespace fatune {

FATUNE_MEMBERS(EmulatedProblem, problem, only_head)
FATUNE_MEMBERS(CountedSample, work, on, blocks)
FATUNE_MEMBERS(CountedSamples, shorter, longer)
FATUNE_DESCRIBED(EmulationVerdict, (verification), (failure), (not_covered, kElsewhere), (work))

namespace {

constexpr std::string_view kMagic = "fatune verdict 2\n";

std::optional<EmulationVerdict> decode(std::string_view bytes, const std::string& key) {
  const auto payload = checked_payload(kMagic, bytes);
  if (!payload) {
    return std::nullopt;
  }
  try {
    const RecordJson from = parse_record(*payload);
    EmulationVerdict verdict;
    record_reader::read(from, verdict);
    return from.at("key") == key ? std::optional(verdict) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;  // intact, but written with other members
  }
}

}  // namespace

std::optional<EmulationVerdict> VerdictCache::find(const std::string& key) {
  const auto bytes = folder_ == nullptr ? std::nullopt : folder_->read(CacheKind::verdict, key);
  auto verdict = bytes ? decode(*bytes, key) : std::nullopt;
  if (bytes && !verdict) {
    spdlog::debug("the verdict {} in the cache is damaged: emulating again", key);
  }
  return verdict;
}

void VerdictCache::store(const std::string& key, const EmulationVerdict& verdict) {
  if (folder_ != nullptr && verdict.not_covered.empty()) {
    RecordJson json{{"key", key}};
    record_writer::add_members(verdict, json);
    folder_->write(CacheKind::verdict, key, with_checksum(kMagic, record_text(json)));
  }
}

EmulatingVerifier::EmulatingVerifier(const FamilySet& families, DeviceLimits limits,
                                     const EmulationSetup& setup)
    : families_(families),
      limits_(std::move(limits)),
      setup_(setup),
      inputs_(setup.seed),
      kept_(setup.cache == nullptr || build_identity().empty() ? nullptr : setup.cache),
      pool_(setup.jobs) {
  settings_.schedules = small_schedules(setup.seed);
  settings_.count_work = true;
  settings_.stopped = InterruptWatch::interrupted;
}

/// Returns a hash of everything that the verdict depends on: this program with its emulator, the
/// code, the family's launch and arguments, the device, the inputs and schedules, the problem that
/// is emulated. A longer problem is also counted at a second length.
std::string EmulatingVerifier::key_of(const Config& config, const Problem& problem,
                                      const Artifact& artifact) const {
  const Family& family = families_.of(config);
  const Problem small = small_problem(problem);
  const bool longer = small.seq_len < problem.seq_len || small.seq_len_kv < problem.seq_len_kv;
  return sha256_hex(
      record_text({build_identity(), artifact.key, family.name, family.definition,
                   short_form(family, config), record_json(limits_), setup_.seed,
                   record_json(small), longer, record_json(narrow_problem(problem))}));
}

std::string EmulatingVerifier::begin(const Config& config, const Problem& problem,
                                     std::shared_ptr<const Artifact> artifact) {
  std::string key = key_of(config, problem, *artifact);
  const std::lock_guard lock(mutex_);
  const auto [verdict, is_new] = verdicts_.try_emplace(key);
  if (is_new) {
    verdict->second = kept_.find(key);
  }
  if (is_new && verdict->second) {
    setup_.on_verdict(0.0);
  } else if (is_new) {
    pool_.add([this, config, problem, key, artifact = std::move(artifact), &to = verdict->second] {
      const double start_s = thread_cpu_s();
      EmulationVerdict found = emulate(config, problem, *artifact);
      spdlog::debug("emulated {}", short_form(families_.of(config), config));
      if (!InterruptWatch::interrupted()) {  // which may have ended a run
        kept_.store(key, found);
      }
      setup_.on_verdict(thread_cpu_s() - start_s);
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
