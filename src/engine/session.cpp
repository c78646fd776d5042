#include "engine/session.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/ranges.hpp"
#include "base/sha256.hpp"
#include "engine/compiling.hpp"
#include "engine/interrupt.hpp"
#include "inspect/counters/counter_fields.hpp"
#include "measure/measurement_module.hpp"
#include "model/device_limits.hpp"
#include "model/record_json.hpp"
#include "plan/config_text.hpp"
#include "print/console.hpp"
#include "print/document/document.hpp"
#include "print/export_report.hpp"
#include "print/run_report.hpp"
#include "store/open_store.hpp"
#include "store/study_inputs.hpp"

namespace fatune {
namespace {

std::size_t count_tried(const RunReport& report) {
  std::size_t tried = 0;
  for (const ProblemReport& problem : report.problems) {
    tried += problem.ranking.size() + problem.failures.size() + problem.audited.size();
  }
  return tried;
}

void explain_interruption(const RunEnd& end, const OutputOptions& output) {
  if (end.planned == 0) {  // another program decides what is tried
    print_note(output, "fatune: interrupted");
    return;
  }
  print_note(output, fmt::format("fatune: interrupted: {} of {} configurations have no time yet{}",
                                 end.planned - count_tried(end.report), end.planned,
                                 end.resumable
                                     ? ".\n  The measurements are stored: the same command resumes "
                                       "from there (--fresh does not)"
                                     : ""));
}

bool is_failure(const Result& result) {
  const Outcome& outcome = result.outcome;
  return is_without_code(outcome_kind(outcome)) || std::holds_alternative<Crashed>(outcome) ||
         std::holds_alternative<TimedOut>(outcome) ||
         std::holds_alternative<WrongResult>(outcome) ||
         std::holds_alternative<Implausible>(outcome) || std::holds_alternative<Flagged>(outcome);
}

bool lacks_ranking(const RunReport& report) {
  return report.problems.empty() || std::ranges::any_of(report.problems, [](const auto& problem) {
           return problem.ranking.empty();
         });
}

/// The exit code that the verdicts on winners require.
ExitCode exit_code_of(const GateReport& gate) {
  const bool of_file = !gate.of.empty();
  if (is_worse(gate.checks)) {
    return of_file ? ExitCode::beaten : ExitCode::worse;
  }
  return of_file && is_among(Verdict::undecided, gate.checks, &RivalCheck::verdict)
             ? ExitCode::undecided
             : ExitCode::ok;
}

ExitCode exit_code_of(const RunEnd& end, bool strict, bool is_shard) {
  if (!end.complete) {
    return ExitCode::interrupted;
  }
  if (is_shard && end.unstored) {  // a shard is of use only in a store
    return ExitCode::io;
  }
  const auto has_failures = [](const auto& problem) {
    return std::ranges::any_of(problem.failures, is_failure);
  };
  if (strict && std::ranges::any_of(end.report.problems, has_failures)) {
    return ExitCode::failed_outcomes;
  }
  const ExitCode of_gate = end.report.gate ? exit_code_of(*end.report.gate) : ExitCode::ok;
  return of_gate != ExitCode::ok     ? of_gate
         : lacks_ranking(end.report) ? ExitCode::nothing_ranked
                                     : ExitCode::ok;
}

/// Says whether the time of a launch includes filling its workspaces.
void announce_workspaces(const FamilySet& families, const OutputOptions& output) {
  for (const Family& family : families.all()) {
    for (const BufferRule& buffer : family.arguments.buffers) {
      if (is_refilled(buffer.clear)) {
        print_note(output,
                   fmt::format("workspace {} is filled before each launch, {} the timed part",
                               buffer.name, buffer.clear == "timed" ? "within" : "outside"));
      }
    }
  }
}

/// Repeats the note on estimates, except for a table, which has it in its last line.
void repeat_estimate(const RunReport& report, const ResultFiles& files,
                     const OutputOptions& output) {
  const bool table = output.format == OutputFormat::table && !files.print_best;
  if (!report.measured && !table) {
    print_note(output, "NOT MEASURED: nothing was timed; the ranking is an estimate");
  }
}

/// Returns the files of one GPU model. Each of several models has its own ranking and folder.
ResultFiles files_for(const MeasureOptions& options, const Target& target, bool one_of_several) {
  ResultFiles files = options.files;
  if (files.print_best && options.output.format != OutputFormat::table) {
    throw Error(ExitCode::usage, "standard output cannot hold the ranking too", "--best -",
                "leave out --format, or name a file");
  }
  if (one_of_several && files.folder) {
    *files.folder /= file_name_part(target.limits.name);
  }
  if (one_of_several && (files.best_file || files.junit_file || files.print_best)) {
    throw Error(ExitCode::usage,
                "the GPUs are of several models: one file cannot hold the results of all",
                files.junit_file ? "--junit" : "--best",
                "use --out, or choose GPUs of one model with --devices");
  }
  return files;
}

ExitCode worse(ExitCode a, ExitCode b) { return a == ExitCode::ok ? b : a; }

/// Prints the reports of several GPU models. Formats for people are printed as soon as a report
/// exists. Formats for programs are one document, which is printed when all reports exist, or when
/// an error ends the run.
class Reports {
 public:
  Reports(const OutputOptions& output, std::size_t models) : output_(output), models_(models) {}

  void add(const RunReport& report) {
    const bool for_programs =
        output_.format == OutputFormat::json || output_.format == OutputFormat::csv;
    if (models_ > 1 && for_programs) {
      reports_.push_back(report);
    } else if (prints_outcomes(output_)) {
      print_result(results_line(report));
    } else if (report.gate && !report.gate->of.empty()) {
      print_document(gate_document(report), output_);
    } else {
      print_document(run_document(report, rows_shown(output_), known_peers(report.device)),
                     output_);
    }
  }
  void close() {
    if (!reports_.empty()) {
      print_document(runs_document(std::exchange(reports_, {})), output_);
    }
  }

 private:
  const OutputOptions& output_;
  std::size_t models_;
  std::vector<RunReport> reports_;
};

/// Prints the cover. With a format for programs, standard output has only one document, so a note
/// has the cover.
void print_cover(const Cover& cover, const ResultFiles& files, const OutputOptions& output) {
  const bool for_people =
      output.format == OutputFormat::table || output.format == OutputFormat::markdown;
  if (for_people && !files.print_best) {
    print_document(cover_document(cover), output);
  } else {
    print_note(output, "cover: " + cover_text(cover));
  }
}

void print_end(const RunEnd& end, const PlannedRun& run, const ResultFiles& files,
               const OutputOptions& output, Reports& reports) {
  if (!end.file_error) {
    for (const auto& path : paths_of(files)) {
      print_note(output, "wrote " + path.string());
    }
  }
  if (!end.complete) {
    explain_interruption(end, output);
  }
  for (const std::string& note : baseline_notes(end.report, run.baseline)) {
    print_note(output, note);
  }
  if (end.report.gate && !end.report.gate->differences.empty()) {
    print_note(output, fmt::format("{} differs from this run in {}", run.rivals->name,
                                   fmt::join(end.report.gate->differences, "; ")));
  }
  if (files.print_best) {
    print_result(best_configs_json(end.report));
  } else {
    reports.add(end.report);
  }
  repeat_estimate(end.report, files, output);
  if (end.complete && run.cover_percent) {
    print_cover(find_cover(end.report, run.kernels.families, *run.cover_percent), files, output);
  }
}

PlannedRun fitted(const PlannedRun& run, const Target& target) {
  PlannedRun fitted = run;
  if (run.fit) {
    run.fit(target, fitted.problems);
  }
  if (run.search_of_estimate && !target.measured()) {
    fitted.search = run.search_of_estimate;
  }
  return fitted;
}

/// Throws Error(no_gpu) if the run needs times that it will not have.
void check_is_timed(const PlannedRun& run, const Target& target) {
  if (target.measured() || !(run.cover_percent || run.rivals)) {
    return;
  }
  const std::string why = "nothing would be timed: " + target.why_not_measured;
  if (run.cover_percent) {
    throw Error(ExitCode::no_gpu, why, "--cover",
                "a cover is computed from measured times: leave it out to get an estimate");
  }
  throw Error(ExitCode::no_gpu, why, "--against",
              "winners are compared by measured times: leave it out to get an estimate");
}

/// Checks the store's place before hours of measurements.
void check_store_place(const StoreOptions& store) {
  const auto file = store.off ? std::nullopt : store.file ? store.file : default_store_path();
  if (file) {
    check_store_file(*file);
  }
}

/// Measures on one GPU model after the other, until the user interrupts it.
ExitCode measure_all(const MeasureOptions& options, const PlannedRun& run,
                     const std::vector<Target>& targets, CubinCache* cache, Reports& reports) {
  ExitCode code = ExitCode::ok;
  for (const Target& target : targets) {
    const ResultFiles files = files_for(options, target, targets.size() > 1);
    check_writable(files);
    const PlannedRun here = fitted(run, target);
    const RunEnd end = measure(options, here, target, files, cache);
    print_end(end, here, files, options.output, reports);
    if (end.file_error) {
      throw *end.file_error;
    }
    code = worse(code, exit_code_of(end, options.strict, run.shard.has_value()));
    if (!end.complete) {
      break;
    }
  }
  return code;
}

/// A record of the family with all columns that its records may have.
Result full_result(const Family& family, const Config& config, bool counts) {
  Result result = make_result(family, config);
  Measured measured;
  if (counts) {
    for (const CounterField& field : counter_fields(CounterSet::core)) {
      measured.counters.push_back({field.name, 0.0});
    }
  }
  result.outcome = std::move(measured);
  return result;
}

/// The first configuration of each family.
std::vector<Result> one_of_each(const PlannedRun& run) {
  std::vector<Result> results;
  for (const Family& family : run.kernels.families.all()) {
    for (const ProblemPlan& plan : run.problems) {
      const auto config = std::ranges::find(plan.configs, family.name, &Config::family);
      if (config != plan.configs.end()) {
        results.push_back(full_result(family, *config, run.counters > 0));
        break;
      }
    }
  }
  return results;
}

/// Throws Error(usage) for a column that the run's records will not have, and for an expression
/// that does not parse.
void check_view(const TableView& view, const PlannedRun& run) {
  if (!view.is_set()) {
    return;
  }
  RunReport report;
  report.problems.emplace_back().ranking = one_of_each(run);
  static_cast<void>(viewed(run_document(report).records(), view));
}

/// The identity of all estimates. It is not a hash, so no run that measures has it.
constexpr const char* kEstimate = "estimate";

/// Hash of the kernels that decide whether a result is right.
std::string verifier_hash(const FileTree& tree) {
  Sha256 hash;
  for (const std::string& name : measurement_source_names()) {
    hash.update_file(name, tree.read("kernels/" + name));
  }
  return hash.finish_hex();
}

nlohmann::json config_json(const Config& config) { return {config.family, config.values}; }

nlohmann::json plan_json(const PlannedRun& run) {
  nlohmann::json problems = nlohmann::json::array();
  for (const ProblemPlan& plan : run.problems) {
    nlohmann::json configs = nlohmann::json::array();
    for (const Config& config : plan.configs) {
      configs.push_back(config_json(config));
    }
    problems.push_back({record_json(plan.problem), plan.run, std::move(configs)});
    if (plan.kept_in_race) {
      problems.back().push_back(config_json(*plan.kept_in_race));
    }
  }
  return {{"family", run.kernels.families.names()},
          {"problems", std::move(problems)},
          {"counters", run.counters},
          {"search", run.search->name()}};
}

/// Returns the conditions of measurement. `gpu`: the GPU's UUID, or the name of its model.
nlohmann::json conditions_json(const PlannedRun& run, const RunReport& header,
                               const std::string& gpu) {
  return {{"gpu", gpu},
          {"policy", record_json(header.policy)},
          {"toolchain", record_json(header.toolchain)},
          {"verifier", verifier_hash(run.kernels.tree)}};
}

}  // namespace

std::size_t count_configs(const std::vector<ProblemPlan>& problems, const CandidateSearch& search) {
  std::size_t count = 0;
  for (const ProblemPlan& plan : problems) {
    count += search.most_tried(plan.configs.size()) + plan.pruned_here.size() + plan.audited.size();
  }
  return count;
}

void announce_estimate(const Target& target, const MeasureOptions& options) {
  if (target.measured()) {
    return;
  }
  print_note(options.output,
             fmt::format("NOT MEASURED: {}; estimating for {}, as an {}", target.why_not_measured,
                         target.limits.name, target.product));
  if (!options.given_for_times.empty()) {
    print_note(options.output, fmt::format("no effect, because nothing is timed: {}",
                                           fmt::join(options.given_for_times, ", ")));
  }
}

ExitCode carry_out(const MeasureOptions& options, const PlannedRun& run) {
  check_view(options.output.view, run);
  const InterruptWatch watch;
  const auto cache = open_cache(options.compile);
  const std::vector<Target> targets =
      choose_targets(options.target, run.kernels.tree, run.kernels.families.all());
  check_is_timed(run, targets.front());
  announce_estimate(targets.front(), options);
  for (const std::string& note : run.notes) {
    print_note(options.output, note);
  }
  if (targets.front().measured() || run.shard) {
    check_store_place(options.store);
  }
  if (targets.front().measured()) {
    announce_workspaces(run.kernels.families, options.output);
  }
  Reports reports(options.output, targets.size());
  try {
    const ExitCode code = measure_all(options, run, targets, cache.get(), reports);
    reports.close();
    return code;
  } catch (...) {
    reports.close();
    throw;
  }
}

std::string plan_hash(const PlannedRun& run) { return sha256_hex(record_text(plan_json(run))); }

std::string sweep_hash(const PlannedRun& run, const RunReport& header, const Shard& shard,
                       bool emulated) {
  nlohmann::json sweep = conditions_json(run, header, header.device.name);
  sweep["sources"] = header.source_hashes;
  sweep["plan"] = shard.sweep;
  sweep["fleet"] = shard.fleet;
  sweep["shards"] = shard.count;
  if (!header.measured) {
    sweep["estimate"] = {{"device", record_json(header.device)}, {"emulated", emulated}};
  }
  return sha256_hex(record_text(sweep));
}

RunIdentity identify(const PlannedRun& run, const RunReport& header) {
  if (!header.measured) {
    return {kEstimate, kEstimate};
  }
  RunIdentity identity;
  identity.conditions = sha256_hex(record_text(conditions_json(run, header, header.device.uuid)));
  identity.plan = sha256_hex(identity.conditions + record_text(plan_json(run)));
  return identity;
}

}  // namespace fatune
