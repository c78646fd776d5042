#include "app/session.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "app/console.hpp"
#include "app/estimating_evaluator.hpp"
#include "app/interrupt.hpp"
#include "app/measuring_evaluator.hpp"
#include "app/pipeline.hpp"
#include "app/progress.hpp"
#include "app/result_files.hpp"
#include "app/run_identity.hpp"
#include "app/store_log.hpp"
#include "app/target.hpp"
#include "compile/compiler.hpp"
#include "core/error.hpp"
#include "emit/run_report.hpp"
#include "measure/memory_plan.hpp"

namespace fatune {
namespace {

using Clock = std::chrono::steady_clock;

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::unique_ptr<Evaluator> make_evaluator(const PlannedRun& run, const MeasureOptions& options,
                                          Target& target, CubinCache* cache) {
  if (target.device) {
    const auto on_wait = [&] {
      print_note(options.output,
                 fmt::format("another fatune measures on {}: waiting for it", target.limits.name));
    };
    return std::make_unique<MeasuringEvaluator>(run.kernels.tree, target, options.policy, cache,
                                                on_wait);
  }
  target.limits.free_memory_bytes = target.limits.total_memory_bytes;
  return std::make_unique<EstimatingEvaluator>(run.kernels.family, target.limits);
}

void check_all_fit(const PlannedRun& run, const MeasurePolicy& policy, const DeviceLimits& limits) {
  for (const ProblemPlan& plan : run.problems) {
    check_fits(plan.problem, policy, limits);
  }
}

RunReport report_header(const PlannedRun& run, const MeasureOptions& options,
                        const Target& target) {
  RunReport report;
  report.command_line = options.output.command_line;
  report.started_at = utc_now();
  report.measured = target.device.has_value();
  report.complete = false;
  report.space = run.space;
  report.family = run.kernels.family.name;
  report.device = target.limits;
  report.toolchain = toolchain_in_use(target);
  report.policy = options.policy;
  return report;
}

std::size_t count_configs(const PlannedRun& run) {
  std::size_t count = 0;
  for (const ProblemPlan& plan : run.problems) {
    count += plan.configs.size();
  }
  return count;
}

bool is_failure(const Entry& entry) {
  const Outcome& outcome = entry.outcome;
  return std::holds_alternative<CompileFailed>(outcome) ||
         std::holds_alternative<Crashed>(outcome) || std::holds_alternative<TimedOut>(outcome) ||
         std::holds_alternative<WrongResult>(outcome);
}

bool has_failures(const RunReport& report) {
  return std::any_of(report.problems.begin(), report.problems.end(), [](const auto& problem) {
    return std::any_of(problem.failures.begin(), problem.failures.end(), is_failure);
  });
}

bool lacks_ranking(const RunReport& report) {
  return report.problems.empty() ||
         std::any_of(report.problems.begin(), report.problems.end(),
                     [](const auto& problem) { return problem.ranking.empty(); });
}

ExitCode exit_code_of(PipelineEnd end, const RunReport& report, bool strict) {
  if (end == PipelineEnd::interrupted) {
    return ExitCode::interrupted;
  }
  if (end == PipelineEnd::lost) {
    return ExitCode::gpu_failure;
  }
  if (strict && has_failures(report)) {
    return ExitCode::failed_outcomes;
  }
  return lacks_ranking(report) ? ExitCode::nothing_ranked : ExitCode::ok;
}

constexpr const char* kStoredSoFar =
    ".\n  What was finished is stored: the same command goes on from there (--fresh does not)";

void explain_end(PipelineEnd end, const PlannedRun& run, const RunReport& report, bool stored,
                 const OutputOptions& output) {
  std::size_t tried = 0;
  for (const ProblemReport& problem : report.problems) {
    tried += problem.ranking.size() + problem.failures.size();
  }
  const std::string left = fmt::format("{} of {} measurements are missing",
                                       count_configs(run) - tried, count_configs(run));
  if (end == PipelineEnd::interrupted) {
    print_note(output, "fatune: interrupted: " + left + (stored ? kStoredSoFar : ""));
  } else if (end == PipelineEnd::lost) {
    print_note(output, "fatune: a kernel has crashed the GPU context (see its row): " + left +
                           (stored ? kStoredSoFar
                                   : ".\n  Leave that configuration out, or correct it, and start "
                                     "again"));
  }
}

void announce_estimate(const Target& target, const OutputOptions& output) {
  if (!target.device) {
    print_note(output, fmt::format("NOT MEASURED: {}; estimating for {}", target.why_not_measured,
                                   target.limits.name));
  }
}

/// A table says it in its own last line.
void repeat_estimate(const RunReport& report, const OutputOptions& output) {
  const bool table = output.format == OutputFormat::table;
  if (!report.measured && !table) {
    print_note(output, "NOT MEASURED: nothing was timed; the ranking is an estimate");
  }
}

void name_files(const ResultFiles& files, const OutputOptions& output) {
  for (const auto& path : files.paths()) {
    print_note(output, "wrote " + path.string());
  }
}

/// Null when nothing is to be stored: estimates never are.
std::unique_ptr<StoreLog> open_log(const PlannedRun& run, const MeasureOptions& options,
                                   const RunReport& header) {
  if (!header.measured || options.store.off) {
    return nullptr;
  }
  auto log = std::make_unique<StoreLog>(
      options.store, NewRun{header, identify(run, header), run.baseline,
                            source_hash(run.kernels.family), options.store.fresh});
  if (log->continues()) {
    print_note(options.output,
               "going on with an interrupted run of the same measurements (--fresh measures anew)");
  }
  return log;
}

/// One run under way: the report as it grows, and the files that follow it.
class Recorder {
 public:
  Recorder(RunReport report, ResultFiles files)
      : report_(std::move(report)), files_(std::move(files)) {}

  void add(ProblemReport problem) {
    report_.problems.push_back(std::move(problem));
    save();
  }
  void close(bool complete) {
    report_.complete = complete;
    save();
  }
  [[nodiscard]] const RunReport& report() const { return report_; }
  [[nodiscard]] const ResultFiles& files() const { return files_; }

 private:
  void save() {
    report_.wall_s = std::chrono::duration<double>(Clock::now() - start_).count();
    write_results(files_, report_);
  }

  Clock::time_point start_ = Clock::now();
  RunReport report_;
  ResultFiles files_;
};

PipelineEnd work_through(const PlannedRun& run, const MeasureOptions& options, const Target& target,
                         Evaluator& evaluator, CubinCache* cache, RunLog& log, Recorder& recorder) {
  Progress progress(options.output, count_configs(run));
  const PipelineParts parts{
      run.kernels.family,
      target.limits,
      [cache](const CompileRequest& request) { return compile(request, cache); },
      job_count(options.compile),
      evaluator,
      progress,
      log};
  const PipelineEnd end =
      run_pipeline(parts, run.problems, run.baseline,
                   [&](ProblemReport report) { recorder.add(std::move(report)); });
  progress.finish();
  recorder.close(end == PipelineEnd::complete);
  return end;
}

}  // namespace

std::unique_ptr<CubinCache> open_cache(const CompileSettings& settings) {
  if (settings.no_cache) {
    return nullptr;
  }
  CacheSettings cache = cache_settings_from_environment();
  cache.folder = settings.cache_dir.value_or(cache.folder);
  return std::make_unique<CubinCache>(std::move(cache));
}

int job_count(const CompileSettings& settings) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return settings.jobs > 0 ? settings.jobs : std::max(1, cores);
}

ExitCode carry_out(const MeasureOptions& options, const PlannedRun& run) {
  const InterruptWatch watch;
  const auto cache = open_cache(options.compile);
  Target target = choose_target(options.target, run.kernels.tree);
  announce_estimate(target, options.output);
  const ResultFiles files{options.out_dir, options.best_file};
  check_writable(files);
  const auto evaluator = make_evaluator(run, options, target, cache.get());
  check_all_fit(run, options.policy, target.limits);
  Recorder recorder(report_header(run, options, target), files);
  const auto stored = open_log(run, options, recorder.report());
  RunLog nothing_stored;
  RunLog& log = stored ? *stored : nothing_stored;

  const PipelineEnd end =
      work_through(run, options, target, *evaluator, cache.get(), log, recorder);

  const RunReport& report = recorder.report();
  if (stored) {
    stored->end_run(report);
  }
  name_files(files, options.output);
  explain_end(end, run, report, stored && stored->keeps(), options.output);
  print_result(print_run_report(report, {options.output.format, options.output.colour,
                                         static_cast<std::size_t>(options.output.top)}));
  repeat_estimate(report, options.output);
  return exit_code_of(end, report, options.strict);
}

}  // namespace fatune
