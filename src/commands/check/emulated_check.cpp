#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/cuda_installation.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/file_tree.hpp"
#include "base/task_pool.hpp"
#include "commands/check/check.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/compiling.hpp"
#include "engine/interrupt.hpp"
#include "engine/progress.hpp"
#include "engine/session.hpp"
#include "inspect/sanitizer_report.hpp"
#include "model/error_rule.hpp"
#include "plan/config_text.hpp"
#include "proof/findings.hpp"
#include "proof/small_emulation.hpp"

namespace fatune {
namespace {

/// A configuration of the plan with its problem.
struct Planned {
  const Config* config;
  const Problem* problem;
};

std::vector<Planned> planned_configs(const PlannedRun& run) {
  std::vector<Planned> all;
  for (const ProblemPlan& plan : run.problems) {
    for (const Config& config : plan.configs) {
      all.push_back({&config, &plan.problem});
    }
  }
  return all;
}

std::string as_against(const EmulatedAccess& other) {
  return fmt::format("{} by thread {} in block {} at {}", other.access, other.thread, other.block,
                     place_text(other.source, other.ptx_line));
}

SanitizerFinding as_finding(const EmulatedFinding& finding) {
  SanitizerFinding said;
  said.kind = finding.kind;
  said.what = finding.text;
  said.place = place_text(finding.source, finding.ptx_line);
  if (finding.other) {
    said.against.push_back(as_against(*finding.other));
  }
  if (finding.block != EmulatedFinding::kNobody) {
    said.thread = fmt::format("{}", finding.thread);
    said.block = fmt::format("{}", finding.block);
  }
  said.group = finding.group;
  said.detail = finding.ptx;
  said.count = finding.count;
  return said;
}

/// The printed rows of one configuration.
class Rows {
 public:
  Rows(const Planned& planned, std::string config, std::uint64_t seed)
      : problem_(*planned.problem), config_(std::move(config)), seed_(seed) {}

  [[nodiscard]] std::vector<CheckedInput> of(const Outcome& obstacle) {
    add(outcome_kind(obstacle), outcome_summary(obstacle));
    return std::move(rows_);
  }

  [[nodiscard]] std::vector<CheckedInput> of(const SmallEmulation& emulated) {
    const EmulatedConfig& row = emulated.row;
    problem_ = compared_part(emulated.on);
    if (row.outcome == OutcomeKind::flagged) {
      add_findings(row);
    }
    for (const ErrorStats& stats : row.inputs) {
      const auto fault = find_fault(stats);
      CheckedInput& added =
          add(fault ? OutcomeKind::wrong_result : OutcomeKind::right, fault.value_or(""));
      added.stats = stats;
      added.rows = rows_of(row.rows, stats);
    }
    // Faults that no single input shows.
    if (row.outcome != OutcomeKind::right &&
        std::ranges::all_of(rows_, [](const CheckedInput& added) { return is_right(added); })) {
      add(row.outcome == OutcomeKind::not_covered ? OutcomeKind::not_verified : row.outcome,
          row.detail);
    }
    return std::move(rows_);
  }

 private:
  CheckedInput& add(OutcomeKind outcome, std::string detail) {
    CheckedInput& row = rows_.emplace_back();
    row.problem = problem_;
    row.config = config_;
    row.seed = seed_;
    row.outcome = outcome;
    row.detail = std::move(detail);
    row.tool = kEmulatorTool;
    return row;
  }
  void add_findings(const EmulatedConfig& row) {
    CheckedInput& added = add(OutcomeKind::flagged, findings_summary(row.findings, row.groups));
    for (const EmulatedFinding& finding : row.findings) {
      added.findings.push_back(as_finding(finding));
    }
  }

  Problem problem_;
  std::string config_;
  std::uint64_t seed_;
  std::vector<CheckedInput> rows_;
};

/// The check of all planned configurations with one seed.
class SeedCheck {
 public:
  SeedCheck(const MeasureOptions& options, const FamilySet& families, const DeviceLimits& limits,
            CubinCache* cache, std::uint64_t seed)
      : families_(families),
        limits_(limits),
        cache_(cache),
        jobs_(job_count(options.compile)),
        inputs_(seed) {
    settings_.schedules = small_schedules(seed);
    settings_.count_rows = options.count_rows;
    settings_.stopped = InterruptWatch::interrupted;
  }

  /// Returns the rows of each configuration. There are none if an interrupt prevented its check.
  [[nodiscard]] std::vector<std::vector<CheckedInput>> run(const std::vector<Planned>& all,
                                                           Progress& progress) {
    std::vector<std::vector<CheckedInput>> rows(all.size());
    for_each_index(all.size(), jobs_, [&](std::size_t i) {
      if (!InterruptWatch::interrupted()) {
        progress.begin_problem(*all[i].problem);
        rows[i] = check(all[i]);
        progress.step();
      }
    });
    return rows;
  }

 private:
  [[nodiscard]] std::vector<CheckedInput> check(const Planned& planned) {
    const Family& family = families_.of(*planned.config);
    Rows rows(planned, short_form(family, *planned.config), inputs_.seed());
    if (const auto obstacle = find_obstacle(family, *planned.config, *planned.problem, limits_)) {
      return rows.of(*obstacle);
    }
    const SmallEmulation emulated = emulate_small(
        {family, *planned.config, *planned.problem, limits_, cache_}, nullptr, settings_, inputs_);
    return emulated.row.outcome == OutcomeKind::stopped ? std::vector<CheckedInput>{}
                                                        : rows.of(emulated);
  }

  const FamilySet& families_;
  const DeviceLimits& limits_;
  CubinCache* cache_;
  int jobs_;
  EmulationSettings settings_;
  EmulatedInputs inputs_;
};

namespace fs = std::filesystem;

constexpr std::size_t kMostLogBytes = std::size_t{64} << 20;

/// Returns the report on all processes that the tool has examined. Nothing: the tool wrote none.
std::optional<SanitizerReport> read_logs(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::optional<SanitizerReport> report;
  for (const fs::path& file : files) {
    const SanitizerReport one = parse_sanitizer_report(read_disk_file(file, kMostLogBytes));
    if (report) {
      merge(one, *report);
    } else {
      report = one;
    }
  }
  return report;
}

std::string findings_text(const SanitizerReport& report) {
  if (report.findings.empty()) {
    return fmt::format("{} errors, {} warnings that fatune cannot read", report.errors,
                       report.warnings);
  }
  const std::size_t more = report.findings.size() - 1;
  const std::int64_t groups = count_groups(report.findings);
  std::string text = describe(report.findings.front());
  text += more == 0 ? "" : fmt::format("; and {} more findings", more);
  return more == 0 || groups == 0
             ? text
             : text + fmt::format(", the races in {} group{}", groups, groups == 1 ? "" : "s");
}

/// Returns why a report without findings proves nothing. Nothing: it is complete.
std::optional<std::string> why_unfinished(const std::optional<SanitizerReport>& report) {
  if (!report) {
    return "the tool wrote no report";
  }
  if (report->complete && report->problems.empty()) {
    return std::nullopt;
  }
  return report->problems.empty()
             ? "the tool's report ends before its summary"
             : fmt::format("the tool could not do its work: {}", fmt::join(report->problems, "; "));
}

bool has_findings(const SanitizerReport& report) {
  return !report.findings.empty() || report.errors > 0 || report.warnings > 0;
}

void judge(const Result& result, const std::optional<SanitizerReport>& report, CheckedInput& row) {
  const auto say = [&](OutcomeKind outcome, const std::string& detail) {
    row.outcome = outcome;
    row.detail = detail.empty() ? detail : row.tool + ": " + detail;
  };
  const auto unfinished = why_unfinished(report);
  if (report && has_findings(*report)) {
    row.findings = report->findings;
    say(OutcomeKind::flagged, findings_text(*report));
  } else if (!std::holds_alternative<Measured>(result.outcome)) {
    say(outcome_kind(result.outcome), outcome_summary(result.outcome));
  } else if (unfinished) {
    say(OutcomeKind::not_verified, *unfinished);
  } else {
    say(OutcomeKind::right, "");
  }
}

const Result* only_result(const RunReport& report) {
  for (const ProblemReport& problem : report.problems) {
    for (const auto* results : {&problem.ranking, &problem.failures}) {
      if (!results->empty()) {
        return &results->front();
      }
    }
  }
  return nullptr;
}

const Family& only_family(const PlannedRun& run) {
  return run.kernels.families.of(run.problems.front().configs.front());
}

/// Checks the run's only configuration. Nothing: the user has interrupted it. Precondition: one
/// problem with one configuration.
std::optional<CheckedInput> check_one(const SanitizerCheck& check, const PlannedRun& run,
                                      const Target& target, CubinCache* cache) {
  const ScratchFolder logs;
  MeasureOptions options = check.options;
  options.launcher = sanitizer_words(
      {check.program, check.tool, logs.path().string(), function_names(only_family(run))});
  const RunEnd end = measure(options, run, target, {}, cache);
  const Result* const result = only_result(end.report);
  if (!end.complete || result == nullptr) {
    return std::nullopt;
  }
  CheckedInput row{
      run.problems.front().problem, result->short_form, options.policy.seed, {}, {}, {}};
  row.tool = enum_name(check.tool);
  judge(*result, read_logs(logs.path()), row);
  return row;
}

}  // namespace

bool check_by_emulation(const MeasureOptions& options, int seeds, const PlannedRun& run,
                        const Target& target, CubinCache* cache, std::vector<CheckedInput>& rows) {
  const std::vector<Planned> all = planned_configs(run);
  Progress progress(options.output, all.size() * static_cast<std::size_t>(seeds));
  for (int i = 0; i < seeds && !InterruptWatch::interrupted(); ++i) {
    const std::uint64_t seed = options.policy.seed + static_cast<std::uint64_t>(i);
    SeedCheck check(options, run.kernels.families, target.limits, cache, seed);
    for (std::vector<CheckedInput>& checked : check.run(all, progress)) {
      rows.insert(rows.end(), std::make_move_iterator(checked.begin()),
                  std::make_move_iterator(checked.end()));
    }
  }
  progress.finish();
  return !InterruptWatch::interrupted();
}

std::string sanitizer_program() {
  const auto tool = find_tool("compute-sanitizer");
  if (!tool) {
    throw Error(ExitCode::bad_file, "compute-sanitizer, which --sanitizer needs, is not installed",
                {},
                "it is part of a CUDA toolkit (apt: cuda-sanitizer-13-0); or set its path in "
                "FATUNE_COMPUTE_SANITIZER");
  }
  return tool->string();
}

bool check_under_sanitizer(const SanitizerCheck& check, PlannedRun& run, const Target& target,
                           CubinCache* cache, std::vector<CheckedInput>& rows) {
  const std::vector<ProblemPlan> all = run.problems;
  bool complete = true;
  for (const ProblemPlan& plan : all) {
    for (const Config& config : plan.configs) {
      run.problems = {plan};
      run.problems.front().configs = {config};
      auto row = complete ? check_one(check, run, target, cache) : std::nullopt;
      complete = row.has_value();
      if (row) {
        rows.push_back(*std::move(row));
      }
    }
  }
  run.problems = all;
  return complete;
}

}  // namespace fatune
