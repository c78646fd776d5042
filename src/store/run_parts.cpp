#include "store/run_parts.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "model/record_json.hpp"
#include "model/statistics.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "race/ranking.hpp"

namespace fatune {
namespace {

/// The families that have results on the problem.
std::set<std::string> families_of(const ProblemReport& problem) {
  std::set<std::string> families;
  for (const auto* results : {&problem.ranking, &problem.audited, &problem.failures}) {
    for (const Result& result : *results) {
      families.insert(result.config.family);
    }
  }
  return families;
}

RunReport header_of(RunReport run) {
  run.problems.clear();
  run.choices.clear();
  return run;
}

RunReport read_run(const JsonNode& text) {
  try {
    return read_record<RunReport>(parse_record(text.text()));
  } catch (const Error& error) {
    text.fail(error.what_was_wrong() + (error.where().empty() ? "" : " (" + error.where() + ")"),
              "give the file as fatune wrote it");
  }
}

int read_count(const JsonNode& node) {
  const std::int64_t count = node.integer();
  if (count < 0 || count > std::numeric_limits<int>::max()) {
    node.fail(fmt::format("{} is out of range", count), "give the file as fatune wrote it");
  }
  return static_cast<int>(count);
}

/// Whether the run has one problem, with results of the family, and times for those it ranks.
bool is_part(const RunReport& run, const std::string& family) {
  return run.problems.size() == 1 && families_of(run.problems.front()).contains(family) &&
         std::ranges::all_of(run.problems.front().ranking,
                             [](const Result& result) { return is_ranked(result.outcome); });
}

/// Throws Error(bad_file) if one of the parts occurs twice.
void check_different(const std::vector<RunPart>& parts) {
  std::set<std::pair<int, std::string>> seen;
  for (const RunPart& part : parts) {
    if (!seen.emplace(part.number, part.family).second) {
      throw Error(ExitCode::bad_file,
                  fmt::format("the results of {} on {} appear twice", part.family,
                              describe(part.run.problems.front().problem)),
                  {}, "name each file once");
    }
  }
}

RunReport join_run(std::vector<RunPart> parts) {
  check_different(parts);
  std::ranges::stable_sort(parts, {}, &RunPart::number);
  parts.erase(std::ranges::unique(parts, {}, &RunPart::number).begin(), parts.end());
  RunReport run = header_of(parts.front().run);
  run.complete = run.complete && std::ssize(parts) == parts.front().problems;
  for (RunPart& part : parts) {
    run.problems.push_back(std::move(part.run.problems.front()));
  }
  return run;
}

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
  const auto* const measured = std::get_if<Measured>(&outcome);
  return mapped(measured == nullptr ? std::vector<double>() : measured->timing.samples_us,
                [](double sample_us) { return sample_us / kUsPerMs; });
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

/// Lists each configuration of the family once, even if a rule dropped it and it was tried anyway.
std::vector<TunedSetting> settings_of(const RunPart& part) {
  std::vector<TunedSetting> settings;
  std::map<Config, int> seen;
  const ProblemReport& problem = part.run.problems.front();
  for (const auto* results : {&problem.ranking, &problem.audited, &problem.failures}) {
    for (const Result& result : *results) {
      if (result.config.family == part.family && seen[result.config]++ == 0) {
        settings.push_back(setting_of(result, part.run.started_at));
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

constexpr double kConfidence = 0.95;

using Names = std::set<std::string>;

Names names_of(const Json& configuration) {
  Names names;
  for (const auto& parameter : configuration.items()) {
    names.insert(parameter.key());
  }
  return names;
}

Names names_of(const Family& family) {
  const auto names = mapped(family.parameters, &Parameter::name);
  return {names.begin(), names.end()};
}

/// The parameters of the settings, which must all have the same ones.
Names parameters_of(const TuningResults& results, const std::string& origin) {
  Names names =
      results.settings.empty() ? Names() : names_of(results.settings.front().configuration);
  if (names.empty() || !std::ranges::all_of(results.settings, [&](const TunedSetting& setting) {
        return names_of(setting.configuration) == names;
      })) {
    throw Error(ExitCode::bad_file, "its settings do not all have the same parameters", origin,
                "give the settings of one kernel, at least one");
  }
  return names;
}

/// The family with exactly these parameters.
const Family& family_with(const Names& names, const FamilySet& families,
                          const std::string& origin) {
  const auto found = std::ranges::find_if(
      families.all(), [&](const Family& family) { return names_of(family) == names; });
  if (found == families.all().end()) {
    throw Error(ExitCode::bad_file,
                "no kernel family has the parameters of its settings: " + joined(names, ", "),
                origin, "families are " + joined(families.all(), "; ", [](const Family& family) {
                          return family.name + " (" + parameter_names(family) + ")";
                        }) + "; --kernel-dir adds your own kernel");
  }
  return *found;
}

/// Converts one file's settings to results.
class Reader {
 public:
  Reader(const ForeignFile& file, const Family& family) : file_(file), family_(family) {}

  [[nodiscard]] Result result_of(const TunedSetting& setting) const {
    Result result = make_result(family_, config_of(setting));
    result.compile_ms = setting.compile_ms;
    result.outcome = outcome_of(setting, result.config);
    if (is_ranked(result.outcome)) {
      const LaunchGeometry launch =
          launch_geometry({family_, result.config, file_.problem, file_.device});
      result.dynamic_smem_bytes = launch.dynamic_smem_bytes;
      result.threads_per_block = static_cast<int>(thread_count(launch));
      result.total_flop =
          find_quantity({family_, result.config, file_.problem, file_.device}, "total_flop");
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const TunedSetting& setting, const std::string& what) const {
    throw Error(ExitCode::bad_file, fmt::format("{}: {}", setting.configuration.dump(), what),
                file_.origin, "only results of configurations that fatune can build are stored");
  }

  [[nodiscard]] Config config_of(const TunedSetting& setting) const {
    Config config{family_.name, {}};
    for (const Parameter& parameter : family_.parameters) {
      const Json& value = setting.configuration.at(parameter.name);
      try {
        config.values.push_back(
            parse_value(parameter, value.is_string() ? value.get<std::string>() : value.dump()));
      } catch (const Error& error) {
        fail(setting, error.what_was_wrong());
      }
    }
    return config;
  }

  [[nodiscard]] Measured measured(const TunedSetting& setting) const {
    std::vector<double> samples_us =
        mapped(setting.runtimes_ms, [&](const double runtime_ms) { return runtime_ms * kUsPerMs; });
    if (samples_us.empty() && !setting.time_ms) {
      fail(setting, "it has neither a time nor runtimes");
    }
    Measured measured{samples_us.empty() ? timing_of_median(*setting.time_ms * kUsPerMs)
                                         : summarise(std::move(samples_us), kConfidence),
                      {}};
    measured.timing.stopped_because = "imported";
    return measured;
  }

  [[nodiscard]] Outcome outcome_of(const TunedSetting& setting, const Config& config) const {
    switch (setting.validity) {
      case Validity::compile:
        return CompileFailed{"the file says that it did not compile"};
      case Validity::runtime:
        return Crashed{"the file says that it could not be run"};
      case Validity::timeout:
        return TimedOut{};
      case Validity::correctness:
        return WrongResult{{}, "the file says that its output was wrong"};
      case Validity::constraints:
        return Pruned{"constraints", "the file says that it was excluded"};
      case Validity::correct:
        break;
    }
    if (const auto invalid = check_valid(family_, config, &file_.problem, &file_.device)) {
      fail(setting, fmt::format("{} cannot build it for {}: {}", family_.name,
                                describe(file_.problem), invalid->reason));
    }
    return measured(setting);
  }

  const ForeignFile& file_;
  const Family& family_;
};

std::vector<Result> results_of(const TuningResults& file, const Reader& reader) {
  std::vector<Result> results;
  std::set<Config> seen;
  for (const TunedSetting& setting : file.settings) {
    Result result = reader.result_of(setting);
    if (seen.insert(result.config).second) {
      results.push_back(std::move(result));
    }
  }
  return results;
}

RunReport header_for(const TuningResults& results, const ForeignFile& file, const Family& family) {
  RunReport run;
  run.command_line = file.command_line;
  run.started_at = std::ranges::min(results.settings, {}, &TunedSetting::timestamp).timestamp;
  run.measured = true;
  run.gpus = 1;
  run.family = family.name;
  run.device = file.device;
  run.imported_from = file.origin;
  return run;
}

}  // namespace

std::vector<RunPart> parts_of(const RunReport& run) {
  std::vector<RunPart> parts;
  int problems = 0;
  for (const ProblemReport& problem : run.problems) {
    const std::set<std::string> families = families_of(problem);
    for (const std::string& family : families) {
      parts.push_back({header_of(run), family, problems, 0});
      parts.back().run.problems.push_back(problem);
    }
    problems += families.empty() ? 0 : 1;
  }
  for (RunPart& part : parts) {
    part.problems = problems;
  }
  return parts;
}

std::vector<RunReport> join_parts(std::vector<RunPart> parts) {
  std::vector<RunReport> runs;
  while (!parts.empty()) {
    const auto others = std::stable_partition(
        parts.begin(), parts.end(),
        [first = parts.front()](const RunPart& part) {  // those of the first one's run
          return first.run.complete == part.run.complete && first.problems == part.problems &&
                 record_json(header_of(first.run)) == record_json(header_of(part.run));
        });
    runs.push_back(join_run({parts.begin(), others}));
    parts.erase(parts.begin(), others);
  }
  return runs;
}

nlohmann::json part_records(const RunPart& part) {
  return {{"run", record_text(record_json(part.run))},
          {"family", part.family},
          {"number", part.number},
          {"problems", part.problems}};
}

RunPart read_part(const JsonNode& records) {
  RunPart part{read_run(records.at("run")), records.at("family").text(),
               read_count(records.at("number")), read_count(records.at("problems"))};
  if (!is_part(part.run, part.family)) {
    records.fail(
        "it must have results of its kernel family on one problem, and a time for each ranked "
        "result",
        "give the file as fatune wrote it");
  }
  return part;
}

TuningResults tuning_results(const RunPart& part) {
  const ProblemReport& report = part.run.problems.front();
  const Problem& problem = report.problem;
  return {.kernel_name = part.family,
          .device_name = part.run.device.name,
          .device = record_json(part.run.device),
          .requirements = requirements_of(part.run.toolchain),
          .problem_size = {problem.seq_len, problem.heads, problem.batch},
          .settings = settings_of(part),
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

RunReport foreign_run(const TuningResults& results, const ForeignFile& file,
                      const FamilySet& families) {
  const Family& family = family_with(parameters_of(results, file.origin), families, file.origin);
  RunReport run = header_for(results, file, family);
  ProblemReport report;
  report.problem = file.problem;
  sort_into_report(results_of(results, Reader(file, family)), std::nullopt, report);
  report.pruned = std::ranges::count_if(report.failures, [](const Result& result) {
    return std::holds_alternative<Pruned>(result.outcome);
  });
  run.problems.push_back(std::move(report));
  return run;
}

}  // namespace fatune
