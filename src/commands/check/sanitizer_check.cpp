#include "commands/check/check.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/run/session.hpp"
#include "app/scratch_folder.hpp"
#include "core/error.hpp"
#include "data/file_tree.hpp"
#include "process/find_tool.hpp"
#include "sanitizer/race_groups.hpp"
#include "sanitizer/sanitizer_report.hpp"

namespace fatune {
namespace {

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

std::string sanitizer_program() {
  const auto tool = find_compute_sanitizer();
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
