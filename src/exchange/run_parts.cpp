#include "exchange/run_parts.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "rank/ranking.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

using Results = std::vector<Result> ProblemReport::*;
struct ResultList {
  const char* name;
  Results results;
};
constexpr std::array<ResultList, 3> kLists{ResultList{"ranking", &ProblemReport::ranking},
                                           {"failures", &ProblemReport::failures},
                                           {"audited", &ProblemReport::audited}};

/// A problem's report for each family that has results on it.
std::map<std::string, ProblemReport> by_family(const ProblemReport& problem) {
  std::map<std::string, ProblemReport> reports;
  const ProblemReport empty = without_results(problem);
  for (const ResultList& list : kLists) {
    for (const Result& result : problem.*list.results) {
      ProblemReport& report = reports.try_emplace(result.config.family, empty).first->second;
      (report.*list.results).push_back(result);
    }
  }
  return reports;
}

RunReport header_of(RunReport run) {
  run.problems.clear();
  run.choices.clear();
  return run;
}

const Result& any_result(const ProblemReport& report) {
  const auto* const list = std::ranges::find_if(
      kLists, [&](const ResultList& one) { return !(report.*one.results).empty(); });
  return (report.*list->results).front();
}

const ProblemReport& problem_of(const RunPart& part) { return part.run.problems.front(); }

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

/// Whether the part has one problem, with results of one family, and times for those it ranks.
bool is_part(const RunReport& run) {
  return run.problems.size() == 1 && by_family(run.problems.front()).size() == 1 &&
         std::ranges::all_of(run.problems.front().ranking,
                             [](const Result& result) { return is_ranked(result.outcome); });
}

bool are_of_one_run(const RunPart& a, const RunPart& b) {
  return a.run.complete == b.run.complete && a.problems == b.problems &&
         record_json(header_of(a.run)) == record_json(header_of(b.run));
}

[[noreturn]] void fail_twice(const RunPart& part) {
  throw Error(ExitCode::bad_file,
              fmt::format("the results of {} on {} appear twice", family_of(part),
                          describe(problem_of(part).problem)),
              {}, "name each file once");
}

double time_or_endless_us(const Result& result) {
  return is_ranked(result.outcome) ? ranked_us(result.outcome)
                                   : std::numeric_limits<double>::infinity();
}

/// The parts of one problem, by family.
using ProblemParts = std::map<std::string, RunPart>;

bool has_all_families(const ProblemParts& parts) {
  return static_cast<int>(parts.size()) == parts.begin()->second.families;
}

ProblemReport join_problem(const ProblemParts& parts) {
  ProblemReport joined = without_results(problem_of(parts.begin()->second));
  for (const auto& [family, part] : parts) {
    for (const ResultList& list : kLists) {
      const std::vector<Result>& results = problem_of(part).*list.results;
      (joined.*list.results).insert((joined.*list.results).end(), results.begin(), results.end());
    }
  }
  std::ranges::stable_sort(joined.ranking, {}, &Result::rank);
  std::ranges::stable_sort(joined.failures, {}, &Result::config);
  std::ranges::stable_sort(joined.audited, {}, time_or_endless_us);
  if (!has_all_families(parts)) {
    rank_results(joined.ranking, std::nullopt);
  }
  return joined;
}

RunReport join_run(const std::vector<RunPart>& parts) {
  std::map<int, ProblemParts> problems;
  for (const RunPart& part : parts) {
    if (!problems[part.number].try_emplace(family_of(part), part).second) {
      fail_twice(part);
    }
  }
  RunReport run = header_of(parts.front().run);
  run.complete = run.complete && static_cast<int>(problems.size()) == parts.front().problems;
  for (const auto& [number, of_problem] : problems) {
    run.complete = run.complete && has_all_families(of_problem);
    run.problems.push_back(join_problem(of_problem));
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

const std::string& family_of(const RunPart& part) {
  return any_result(problem_of(part)).config.family;
}

std::vector<RunPart> parts_of(const RunReport& run) {
  std::vector<RunPart> parts;
  int problems = 0;
  for (const ProblemReport& problem : run.problems) {
    const auto reports = by_family(problem);
    for (const auto& [family, report] : reports) {
      parts.push_back({header_of(run), problems, 0, static_cast<int>(reports.size())});
      parts.back().run.problems.push_back(report);
    }
    problems += reports.empty() ? 0 : 1;
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
        [first = parts.front()](const RunPart& part) { return are_of_one_run(first, part); });
    runs.push_back(join_run({parts.begin(), others}));
    parts.erase(parts.begin(), others);
  }
  return runs;
}

nlohmann::json part_records(const RunPart& part) {
  return {{"run", record_text(record_json(part.run))},
          {"number", part.number},
          {"problems", part.problems},
          {"families", part.families}};
}

RunPart read_part(const JsonNode& records) {
  RunPart part{read_run(records.at("run")), read_count(records.at("number")),
               read_count(records.at("problems")), read_count(records.at("families"))};
  if (!is_part(part.run)) {
    records.fail(
        "it must have results of one kernel family on one problem, and a time for each ranked "
        "result",
        "give the file as fatune wrote it");
  }
  return part;
}

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
