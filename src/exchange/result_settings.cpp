#include "exchange/result_settings.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

Validity validity_of(const Outcome& outcome) {
  using enum OutcomeKind;
  switch (outcome_kind(outcome)) {
    case pruned:
    case invalid:
      return Validity::constraints;
    case compile_failed:
    case compiler_crashed:
    case serialized:
      return Validity::compile;
    case unlaunchable:
    case crashed:
      return Validity::runtime;
    case timed_out:
      return Validity::timeout;
    case wrong_result:
    case implausible:
    case flagged:
      return Validity::correctness;
    default:
      return Validity::correct;
  }
}

std::vector<double> runtimes_ms(const Outcome& outcome) {
  std::vector<double> runtimes;
  if (const auto* measured = std::get_if<Measured>(&outcome)) {
    for (const double sample_us : measured->timing.samples_us) {
      runtimes.push_back(sample_us / kUsPerMs);
    }
  }
  return runtimes;
}

TunedSetting setting_of(const Result& result, const std::string& timestamp) {
  const bool ranked = is_ranked(result.outcome);
  return {.configuration = parameters_json(result.parameters),
          .validity = validity_of(result.outcome),
          .time_ms = ranked ? std::optional(ranked_us(result.outcome) / kUsPerMs) : std::nullopt,
          .runtimes_ms = runtimes_ms(result.outcome),
          .compile_ms = result.compile_ms,
          .timestamp = timestamp};
}

/// Lists a configuration once, even if a rule dropped it and it was tried anyway.
std::vector<TunedSetting> settings_of(const RunReport& run) {
  std::vector<TunedSetting> settings;
  std::map<Config, int> seen;
  const ProblemReport& problem = run.problems.front();
  for (const auto* results : {&problem.ranking, &problem.audited, &problem.failures}) {
    for (const Result& result : *results) {
      if (seen[result.config]++ == 0) {
        settings.push_back(setting_of(result, run.started_at));
      }
    }
  }
  return settings;
}

/// Requirements in Python's format: "nvrtc==13.0". Unknown versions are left out.
std::vector<std::string> requirements_of(const Toolchain& toolchain) {
  std::vector<std::string> requirements;
  for (const auto& [name, version] :
       {std::pair{"fatune", toolchain.fatune_version}, std::pair{"nvrtc", toolchain.nvrtc_version},
        std::pair{"nvidia-driver", toolchain.driver_release}}) {
    if (!version.empty()) {
      requirements.push_back(fmt::format("{}=={}", name, version));
    }
  }
  return requirements;
}

/// The facts about settings that every format has: whether a setting ended well, its time and
/// runtimes. The keys are the setting's values, regardless of their order. How it failed is left
/// out, because Kernel Tuner distinguishes fewer failures.
using SettingKeys =
    std::map<std::string, std::tuple<bool, std::optional<double>, std::vector<double>>>;

SettingKeys setting_keys(const TuningResults& results) {
  SettingKeys keys;
  for (const TunedSetting& setting : results.settings) {
    keys[nlohmann::json(setting.configuration).dump()] = {setting.validity == Validity::correct,
                                                          setting.time_ms, setting.runtimes_ms};
  }
  return keys;
}

/// A setting of `a` that is missing or different in `b`; empty: none.
std::string first_difference(const SettingKeys& a, const SettingKeys& b) {
  const auto found = std::ranges::find_if(a, [&](const auto& setting) {
    const auto other = b.find(setting.first);
    return other == b.end() || other->second != setting.second;
  });
  return found == a.end() ? std::string() : found->first;
}

}  // namespace

TuningResults tuning_results(const RunPart& part) {
  const ProblemReport& report = part.run.problems.front();
  const Problem& problem = report.problem;
  return {.kernel_name = family_of(part),
          .device_name = part.run.device.name,
          .device = record_json(part.run.device),
          .requirements = requirements_of(part.run.toolchain),
          .problem_size = {problem.seq_len, problem.heads, problem.batch},
          .settings = settings_of(part.run),
          .records = part_records(part)};
}

void check_settings(const TuningResults& file, const RunPart& records, const std::string& origin) {
  const SettingKeys in_file = setting_keys(file);
  const SettingKeys in_records = setting_keys(tuning_results(records));
  std::string difference = first_difference(in_file, in_records);
  difference = difference.empty() ? first_difference(in_records, in_file) : difference;
  if (!difference.empty()) {
    throw Error(
        ExitCode::bad_file,
        fmt::format("the setting {} differs from the records of its member 'fatune'", difference),
        origin,
        "give the file as fatune wrote it, or remove that member, to import the settings "
        "as another program's");
  }
}

}  // namespace fatune
