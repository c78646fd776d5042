#include "engine/session.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/ranges.hpp"
#include "base/task_pool.hpp"
#include "engine/compiling.hpp"
#include "engine/estimating_evaluator.hpp"
#include "engine/pipeline.hpp"
#include "engine/progress.hpp"
#include "engine/store_log.hpp"
#include "engine/verifying_kernels.hpp"
#include "gpu/compiler.hpp"
#include "gpu/machine.hpp"
#include "measure/measurement_module.hpp"
#include "measure/memory_plan.hpp"
#include "model/device_limits.hpp"
#include "plan/estimate_rule.hpp"
#include "print/comparisons.hpp"
#include "print/console.hpp"
#include "print/files.hpp"
#include "print/run_report.hpp"
#include "race/ranking.hpp"

namespace fatune {
namespace {

std::map<std::string, std::string> estimate_orders(const PlannedRun& run, Arch arch) {
  std::int64_t least_queries = std::numeric_limits<std::int64_t>::max();
  for (const ProblemPlan& plan : run.problems) {
    least_queries = std::min(least_queries, plan.problem.seq_len);
  }
  std::map<std::string, std::string> orders;
  for (const Family& family : run.kernels.families.all()) {
    orders[family.name] = order_sentence(family, arch, least_queries);
  }
  return orders;
}

RunReport report_header(const PlannedRun& run, const MeasureOptions& options,
                        const Target& target) {
  RunReport report;
  report.command_line = options.output.command_line;
  report.started_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  report.measured = target.measured();
  report.gpus = static_cast<int>(target.gpus.size());
  report.complete = false;
  report.space = run.space;
  report.family = run.kernels.families.names();
  report.device = target.limits;
  report.toolchain = toolchain_in_use(target);
  report.source_hashes = source_hashes(run.kernels.families);
  if (!target.measured()) {
    report.estimate_orders = estimate_orders(run, target.limits.arch);
  }
  report.policy = options.policy;
  if (report.shard = run.shard; report.shard) {
    report.shard->sweep = sweep_hash(run, report, *run.shard, options.emulate);
  }
  return report;
}

/// Loads the rates even if a driver reports the limits, because it does not report the rates.
SmRates rates_for(const PlannedRun& run, const Target& target) {
  return load_sm_rates(run.kernels.tree, target.limits.arch);
}

DeviceThread::Make make_measuring(const MeasureOptions& options, const PlannedRun& run,
                                  const Target& target, const TargetGpu& gpu, CubinCache* cache) {
  MeasuringSetup setup = gpu_setup(target, gpu, options.target, options.output);
  setup.sources = read_kernel_sources(run.kernels.tree, measurement_source_names());
  if (options.device_rates) {
    setup.rates_sources = read_kernel_sources(run.kernels.tree, matmul_source_names());
  }
  for (const ProblemPlan& plan : run.problems) {
    setup.problems.push_back(plan.problem);
  }
  setup.policy = options.policy;
  setup.count_rows = options.count_rows;
  setup.cache = cache;
  setup.launcher = options.launcher;
  setup.counters = run.counters;
  return [setup = std::move(setup)] { return std::make_unique<MeasuringEvaluator>(setup); };
}

DeviceThread::Make make_estimating(const MeasureOptions& options, const PlannedRun& run,
                                   const Target& target, CubinCache* cache, RunObserver& observer) {
  DeviceLimits limits = target.limits;
  limits.free_memory_bytes = limits.total_memory_bytes;
  std::optional<EstimateVerification> verification;
  if (options.emulate) {
    verification = {job_count(options.compile), options.policy.seed, cache,
                    [&observer](double cpu_s) { observer.emulated(cpu_s); },
                    [&observer] { observer.step(); }};
  }
  return [&families = run.kernels.families, limits, rates = rates_for(run, target), verification] {
    return make_estimating_evaluator(families, limits, rates, verification);
  };
}

/// A GPU, or the estimate, with its evaluator.
struct Station {
  std::unique_ptr<DeviceThread> device;
  const Evaluator* evaluator = nullptr;  ///< belongs to the device's thread: use only const members
};

std::vector<Station> open_stations(const MeasureOptions& options, const PlannedRun& run,
                                   const Target& target, CubinCache* cache, RunObserver& observer) {
  std::vector<Station> stations;
  for (const TargetGpu& gpu : target.gpus) {
    stations.emplace_back().device =
        std::make_unique<DeviceThread>(make_measuring(options, run, target, gpu, cache));
  }
  if (stations.empty()) {
    stations.emplace_back().device =
        std::make_unique<DeviceThread>(make_estimating(options, run, target, cache, observer));
  }
  return stations;
}

std::unique_ptr<StoreLog> open_log(const PlannedRun& run, const MeasureOptions& options,
                                   RunReport header, const DeviceLimits& limits,
                                   OutcomeLines* lines) {
  header.device = limits;
  const RunIdentity identity = identify(run, header);
  auto log = std::make_unique<StoreLog>(
      options.store, NewRun{std::move(header), identity, run.baseline, options.store.fresh}, lines);
  if (log->continues()) {
    print_note(options.output,
               "continuing an interrupted run of the same measurements (--fresh measures anew)");
  }
  return log;
}

/// The logs of a run, one for each station.
class Logs {
 public:
  Logs(const PlannedRun& run, const MeasureOptions& options, const RunReport& header,
       const std::vector<Station>& stations)
      : lines_(header) {
    const bool prints = prints_outcomes(options.output) && !options.files.print_best;
    for (const Station& station : stations) {
      all_.push_back(
          open_log(run, options, header, station.evaluator->limits(), prints ? &lines_ : nullptr));
    }
  }

  [[nodiscard]] RunLog& of(std::size_t station) { return *all_[station]; }
  [[nodiscard]] bool all_keep() const {
    return std::ranges::all_of(all_, [](const auto& log) { return log->keeps(); });
  }
  [[nodiscard]] bool any_failed() const {
    return std::ranges::any_of(all_, [](const auto& log) { return log->failed(); });
  }
  void end(const RunReport& report) {
    for (const auto& log : all_) {
      log->end_run(report);
    }
  }

 private:
  OutcomeLines lines_;
  std::vector<std::unique_ptr<StoreLog>> all_;
};

double busy_s(const std::vector<Station>& stations) {
  return std::accumulate(
      stations.begin(), stations.end(), 0.0,
      [](double sum, const Station& station) { return sum + station.evaluator->busy_s(); });
}

std::vector<Seat> take_seats(std::vector<Station>& stations,
                             const std::function<RunLog&(std::size_t station)>& log_of) {
  std::vector<Seat> seats;
  for (std::size_t i = 0; i < stations.size(); ++i) {
    seats.push_back({*stations[i].device, log_of(i)});
  }
  return seats;
}

/// Returns the reports in the order of their plans. For an interrupted run, stops at the first plan
/// that was not finished.
std::vector<ProblemReport> finished_reports(std::map<std::size_t, ProblemReport>&& by_number,
                                            bool complete) {
  std::vector<ProblemReport> reports;
  for (auto& [number, report] : by_number) {
    if (number != reports.size() || !(complete || is_finished(report))) {
      break;
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

/// Returns the rest of a budget. 0 means no budget, so a spent budget gives a tiny rest.
double left_s(double budget_s, double spent_s) {
  constexpr double kLeastSeconds = 1e-6;
  return budget_s > 0.0 ? std::max(kLeastSeconds, budget_s - spent_s) : 0.0;
}

/// A run under way. It measures its own problems first, then what its winners require.
class Measuring {
 public:
  /// Compiling begins while the workers start. All references must outlive it.
  Measuring(const MeasureOptions& options, const PlannedRun& run, const Target& target,
            const ResultFiles& files, CubinCache* cache)
      : options_(options),
        run_(run),
        target_(target),
        cache_(cache),
        recorder_(report_header(run, options, target), files),
        planned_(count_configs(run.problems, *run.search)),
        progress_(options.output, planned_,
                  target.measured() ? Progress::Work::steps
                  : options.emulate ? Progress::Work::emulation
                                    : Progress::Work::compilation),
        disturbances_(mapped(target.gpus, &TargetGpu::uuid)),
        stations_(open_stations(options, run, target, cache, progress_)),
        pipeline_(begin(run.kernels.families, run.baseline, run.problems, *run.search)) {}

  RunEnd carry_out() {
    wait_ready();
    recorder_.set(&RunReport::disturbances, disturbances_.look());
    Logs logs(run_, options_, recorder_.report(), stations_);
    std::vector<Seat> seats =
        take_seats(stations_, [&](std::size_t i) -> RunLog& { return logs.of(i); });
    record(seats, 0);
    race_for_cover(seats);
    race_against_rivals();
    progress_.finish();
    recorder_.set(&RunReport::disturbances, disturbances_.look());
    recorder_.close(complete_, busy_s(stations_));
    logs.end(recorder_.report());
    const bool resumable = target_.measured() && logs.all_keep();
    return {recorder_.report(), complete_,         planned_,
            resumable,          logs.any_failed(), recorder_.file_error()};
  }

 private:
  std::unique_ptr<Pipeline> begin(const FamilySet& families, const std::optional<Config>& baseline,
                                  const std::vector<ProblemPlan>& plans,
                                  const CandidateSearch& search) {
    const auto compile_one = [this](const CompileRequest& request) {
      const double start_s = thread_cpu_s();
      // Emulation and the estimate need the PTX.
      CompileResult result = compile(request, cache_, !target_.measured());
      progress_.compiled(thread_cpu_s() - start_s);
      return result;
    };
    HasCode has_code;
    if (cache_ != nullptr) {
      has_code = [this](const CompileRequest& request) {
        return cache_->contains(artifact_key(request));
      };
    }
    return std::make_unique<Pipeline>(
        PipelineParts{families, target_.limits, rates_for(run_, target_), search, compile_one,
                      has_code, job_count(options_.compile), progress_, baseline,
                      left_s(options_.policy.budget_s, recorder_.report().wall_s),
                      options_.policy.parts},
        plans, work_order(plans, stations_.size()));
  }
  void begin_more(const FamilySet& families, const std::optional<Config>& baseline,
                  const std::vector<ProblemPlan>& plans) {
    planned_ += count_configs(plans, all_);
    progress_.expect(planned_);
    pipeline_ = begin(families, baseline, plans, all_);
  }

  void wait_ready() {
    for (Station& station : stations_) {
      station.evaluator = &station.device->wait_ready();
      for (const ProblemPlan& plan : run_.problems) {
        check_fits(plan.problem, options_.policy, station.evaluator->limits());
      }
    }
    recorder_.set(&RunReport::device, stations_.front().evaluator->limits());
  }

  /// Adds the pipeline's problems to the report, the first as number `first_number`.
  void record(std::vector<Seat>& seats, std::size_t first_number) {
    complete_ = pipeline_->run(seats, [&](std::size_t number, ProblemReport report) {
      recorder_.add(first_number + number, std::move(report));
    });
    spdlog::debug("compiled for {:.2f} s", pipeline_->compiling_s());
  }

  void race_for_cover(std::vector<Seat>& seats) {
    if (!complete_ || !run_.cover_percent) {
      return;
    }
    const auto races = plan_cover_races(run_.problems, recorder_.report().problems);
    if (!races.empty()) {
      begin_more(run_.kernels.families, run_.baseline, races);
      record(seats, run_.problems.size());
      pipeline_.reset();
    }
  }

  void race_against_rivals() {
    if (run_.rivals) {
      recorder_.set(&RunReport::gate,
                    race_rivals(*run_.rivals, run_.problems, recorder_.report(), complete_,
                                [this](const std::vector<ProblemPlan>& plans) {
                                  return measure_rivals(plans);
                                }));
    }
  }

  /// Measures plans that are neither stored nor in the report. Measures nothing after the user has
  /// interrupted the run.
  std::vector<ProblemReport> measure_rivals(const std::vector<ProblemPlan>& plans) {
    if (!complete_ || plans.empty()) {
      return {};
    }
    RunLog nothing;
    std::vector<Seat> seats =
        take_seats(stations_, [&](std::size_t) -> RunLog& { return nothing; });
    begin_more(run_.rivals->families, std::nullopt, plans);
    std::map<std::size_t, ProblemReport> by_number;
    complete_ = pipeline_->run(seats, [&](std::size_t number, ProblemReport report) {
      by_number[number] = std::move(report);
    });
    pipeline_.reset();
    return finished_reports(std::move(by_number), complete_);
  }

  const MeasureOptions& options_;
  const PlannedRun& run_;
  const Target& target_;
  CubinCache* cache_;
  Recorder recorder_;
  std::size_t planned_;
  Progress progress_;
  Disturbances disturbances_;  ///< must look before the stations start workers
  std::vector<Station> stations_;
  const ExhaustiveSearch all_;  ///< tries everything that the winners require
  std::unique_ptr<Pipeline> pipeline_;
  bool complete_ = false;
};

/// A file, and what makes its text.
struct ResultFile {
  std::filesystem::path path;
  std::string (*text_of)(const RunReport& report);
};

std::vector<ResultFile> list_files(const ResultFiles& files) {
  std::vector<ResultFile> list;
  if (files.folder) {
    list = {{*files.folder / "results.json", results_json},
            {*files.folder / "results.csv", results_csv},
            {*files.folder / "best_configs.json", best_configs_json}};
  }
  if (files.best_file) {
    list.push_back({*files.best_file, best_configs_json});
  }
  if (files.junit_file) {
    list.push_back({*files.junit_file, gate_junit});
  }
  return list;
}

}  // namespace

RunEnd measure(const MeasureOptions& options, const PlannedRun& run, const Target& target,
               const ResultFiles& files, CubinCache* cache) {
  return Measuring(options, run, target, files, cache).carry_out();
}

MeasuringSetup gpu_setup(const Target& target, const TargetGpu& gpu, const TargetOptions& options,
                         const OutputOptions& output) {
  MeasuringSetup setup;
  setup.device_ordinal = gpu.ordinal;
  setup.uuid = gpu.uuid;
  setup.arch = target.limits.arch;
  setup.wait = options.no_wait ? LockWait::no : LockWait::yes;
  setup.on_wait = [output, gpu, name = target.limits.name] {
    print_note(output, fmt::format("another fatune measures on {} (GPU {}): waiting for it", name,
                                   gpu.ordinal));
  };
  return setup;
}

std::vector<std::filesystem::path> paths_of(const ResultFiles& files) {
  return mapped(list_files(files), &ResultFile::path);
}

void check_writable(const ResultFiles& files) {
  for (const auto& path : paths_of(files)) {
    check_output_file(path);
  }
}

void Recorder::add(std::size_t number, ProblemReport problem) {
  settle();
  const auto place = std::distance(numbers_.begin(), numbers_.insert(number).first);
  report_.problems.insert(report_.problems.begin() + place, std::move(problem));
  report_.choices = common_choices(report_.problems);
  note_wall_time();
  saving_ = std::async(std::launch::async, [this] { save(false); });
}

void Recorder::close(bool complete, double busy_s) {
  settle();
  report_.complete = complete;
  report_.busy_s = busy_s;
  note_wall_time();
  save(true);
}

void Recorder::note_wall_time() {
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start_;
  report_.wall_s = wall.count();
}

void Recorder::settle() {
  if (saving_.valid()) {
    saving_.get();
  }
}

void Recorder::save(bool at_the_end) {
  try {
    for (const auto& [path, text_of] : list_files(files_)) {
      if ((text_of != gate_junit || report_.gate) && (at_the_end || can_be_rewritten(path))) {
        write_output_file(path, text_of(report_));
      }
    }
    file_error_.reset();
  } catch (const Error& error) {
    if (!file_error_) {
      spdlog::warn("results are not in their files yet: {}", error.what());
    }
    file_error_ = error;
  }
}

}  // namespace fatune
