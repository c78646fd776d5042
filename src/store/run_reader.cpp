#include "store/run_reader.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "model/flop.hpp"

namespace fatune {
namespace {

/// One run's row for a problem.
struct Taken {
  const StoredShard* part = nullptr;
  const ProblemRow* row = nullptr;
};

using Place = std::pair<std::int64_t, int>;  ///< the problem's place in the sweep, repetition

std::int64_t place_of(const Problem& problem, const StoredShard& part) {
  const auto& placed = part.header.shard->problems;
  const auto found = std::ranges::find(placed, problem, &PlacedProblem::problem);
  return found != placed.end() ? found->place : part.header.shard->sweep_problems;
}

auto worth(const Taken& taken) {
  return std::tie(taken.row->finished, taken.part->header.started_at, taken.row->id);
}

std::map<Place, Taken> choose_problems(const std::vector<StoredShard>& parts) {
  std::map<Place, Taken> chosen;
  for (const StoredShard& part : parts) {
    for (const ProblemRow& row : part.problems) {
      const Taken taken{&part, &row};
      Taken& best =
          chosen.try_emplace({place_of(row.problem, part), row.repetition}, taken).first->second;
      best = worth(best) < worth(taken) ? taken : best;
    }
  }
  return chosen;
}

bool is_whole(const std::map<Place, Taken>& chosen, const Shard& shard) {
  const auto finished = [](const auto& problem) { return problem.second.row->finished; };
  return std::ranges::all_of(chosen, finished) && std::ssize(chosen) >= shard.sweep_problems;
}

Shard joined_shard(const std::vector<const StoredShard*>& parts) {
  Shard shard = *parts.front()->header.shard;
  std::set<int> numbers;
  for (const StoredShard* part : parts) {
    numbers.insert(part->header.shard->numbers.begin(), part->header.shard->numbers.end());
  }
  shard.numbers.assign(numbers.begin(), numbers.end());
  shard.problems.clear();
  return shard;
}

/// Joins the times. A run on several GPUs is stored once for each GPU, every time with the sums
/// over all GPUs.
void add_times(const std::vector<const StoredShard*>& parts, RunReport& header) {
  std::map<std::string, double> wall_s;
  header.busy_s = 0.0;
  for (const StoredShard* part : parts) {
    wall_s[part->header.device.uuid] += part->header.wall_s;
    header.busy_s += part->header.busy_s / std::max(1, part->header.gpus);
  }
  header.gpus = header.measured ? static_cast<int>(wall_s.size()) : 0;
  header.wall_s =
      std::ranges::max_element(wall_s, {}, [](const auto& gpu) { return gpu.second; })->second;
}

/// Each disturbance once, in the order of the parts.
std::vector<std::string> joined_disturbances(const std::vector<const StoredShard*>& parts) {
  std::vector<std::string> all;
  for (const StoredShard* part : parts) {
    for (const std::string& one : part->header.disturbances) {
      append_new(all, one);
    }
  }
  return all;
}

RunReport joined_header(const std::vector<const StoredShard*>& parts, bool whole) {
  RunReport header = parts.front()->header;
  header.disturbances = joined_disturbances(parts);
  header.complete = whole;
  header.shard = whole ? std::nullopt : std::optional(joined_shard(parts));
  add_times(parts, header);
  return header;
}

/// The parts from which at least one problem was chosen, in the order in which they were started.
/// If there are none, the last part.
std::vector<const StoredShard*> contributors(const std::vector<StoredShard>& parts,
                                             const std::map<Place, Taken>& chosen) {
  std::vector<const StoredShard*> all;
  for (const StoredShard& part : parts) {
    if (std::ranges::any_of(chosen, [&](const auto& of) { return of.second.part == &part; })) {
      all.push_back(&part);
    }
  }
  if (all.empty()) {
    all.push_back(&parts.back());
  }
  std::ranges::stable_sort(all, {}, [](const StoredShard* part) -> const std::string& {
    return part->header.started_at;
  });
  return all;
}

std::optional<StoredRun> load_header(Database& database, std::int64_t run_id) {
  Statement row =
      database.query("SELECT header, complete, baseline FROM runs WHERE id = ?", run_id);
  if (!row.step()) {
    return std::nullopt;
  }
  StoredRun run{read_column<RunReport>(row, 0), {}, {}};
  run.header.complete = row.flag(1);
  run.header.uid.clear();  // it names the copy in the store
  if (!row.is_null(2)) {
    run.baseline = read_column<Config>(row, 2);
  }
  return run;
}

std::vector<Result>& list_for(const Result& result, StoredProblem& problem) {
  const bool audited = !result.pruned_by.empty();
  const bool failed = problem.ranked && result.rank == 0;
  return audited  ? problem.report.audited
         : failed ? problem.report.failures
                  : problem.report.ranking;
}

void load_results(Database& database, StoredProblem& problem) {
  Statement rows = database.query(
      "SELECT id, result, source FROM outcomes WHERE run_problem = ? ORDER BY place, id",
      problem.id);
  while (rows.step()) {
    const bool repeated = !rows.is_null(2);
    Result result = load_result(database, rows.text(1), rows.integer(repeated ? 2 : 0));
    result.reused = result.reused || repeated;
    list_for(result, problem).push_back(std::move(result));
  }
}

std::vector<std::int64_t> problems_of(Database& database, std::int64_t run_id) {
  Statement rows = database.prepare("SELECT id FROM run_problems WHERE run = ? ORDER BY id");
  return rows.bind(run_id).integers();
}

/// The ids of the run, or of all runs of its sweep (docs/fleets.md), in the order in which they
/// were stored.
std::vector<std::int64_t> runs_of_sweep(Database& database, std::int64_t run_id) {
  Statement rows = database.prepare(
      "SELECT id FROM runs WHERE id = ?1 OR header ->> '$.shard.sweep' = "
      "(SELECT header ->> '$.shard.sweep' FROM runs WHERE id = ?1) ORDER BY id");
  return rows.bind(run_id).integers();
}

std::vector<ProblemRow> problem_rows(Database& database, std::int64_t run_id) {
  Statement row = database.query(
      "SELECT id, problem, repetition, finished FROM run_problems WHERE run = ? ORDER BY id",
      run_id);
  std::vector<ProblemRow> problems;
  while (row.step()) {
    problems.push_back(
        {row.integer(0), read_column<Problem>(row, 1), row.small_integer(2), row.flag(3)});
  }
  return problems;
}

JoinedRun load_joined(Database& database, const std::vector<std::int64_t>& runs) {
  std::vector<StoredShard> parts;
  for (const std::int64_t id : runs) {
    if (auto run = load_header(database, id)) {
      parts.push_back(
          {id, std::move(run->header), std::move(run->baseline), problem_rows(database, id)});
    }
  }
  return join_runs(parts);
}

double flop_per_us(const RunBest& best) { return literature_flop(best.problem) / best.time_us; }

RunBest read_best(Database& database, std::int64_t outcome) {
  Statement row = database.query(
      "SELECT rp.problem, o.result, o.time_us FROM outcomes o "
      "JOIN run_problems rp ON rp.id = o.run_problem WHERE o.id = ?",
      outcome);
  if (!row.step()) {
    database.fail_damaged("an outcome is missing");
  }
  return {read_column<Problem>(row, 0), read_column<Result>(row, 1).short_form, row.real(2)};
}

/// The fastest configuration of a problem, except those that an audit tried.
std::optional<RunBest> best_of_problem(Database& database, std::int64_t run_problem) {
  Statement row = database.query(
      "SELECT id FROM outcomes WHERE run_problem = ? AND time_us > 0 AND audited = 0 "
      "ORDER BY time_us LIMIT 1",
      run_problem);
  return row.step() ? std::optional(read_best(database, row.integer(0))) : std::nullopt;
}

std::optional<RunBest> best_of(Database& database, const std::vector<std::int64_t>& problems) {
  std::optional<RunBest> best;
  for (const std::int64_t id : problems) {
    auto candidate = best_of_problem(database, id);
    if (candidate && (!best || flop_per_us(*candidate) > flop_per_us(*best))) {
      best = std::move(candidate);
    }
  }
  return best;
}

/// Counts the outcomes of the problems, and how many of them are repeated from another run.
void count_outcomes(Database& database, const std::vector<std::int64_t>& problems,
                    RunSummary& summary) {
  Statement counts =
      database.prepare("SELECT count(*), count(source) FROM outcomes WHERE run_problem = ?");
  for (const std::int64_t id : problems) {
    counts.bind(id);
    if (counts.step()) {
      summary.outcomes += counts.integer(0);
      summary.reused += counts.integer(1);
    }
    counts.reset();
  }
}

void add_problems(Database& database, const std::vector<std::int64_t>& problems,
                  RunSummary& summary) {
  summary.problems = std::ssize(problems);
  count_outcomes(database, problems, summary);
  summary.best = summary.measured ? best_of(database, problems) : std::nullopt;
}

/// Reads a run that is not a shard. Parts of its header that the list does not show may be missing.
RunSummary read_summary(Database& database, std::int64_t id, const nlohmann::json& header,
                        bool complete) {
  RunSummary summary{.id = id,
                     .started_at = header_text(header, "/started_at"),
                     .device = header_text(header, "/device/name"),
                     .command_line = header_text(header, "/command_line"),
                     .complete = complete,
                     .measured = is_measured(header)};
  add_problems(database, problems_of(database, id), summary);
  return summary;
}

RunSummary read_joined_summary(Database& database, std::int64_t last,
                               const std::vector<std::int64_t>& runs) {
  const JoinedRun run = load_joined(database, runs);
  RunSummary summary{.id = last,
                     .started_at = run.header.started_at,
                     .device = run.header.device.name,
                     .command_line = run.header.command_line,
                     .complete = run.header.complete,
                     .shard = run.header.shard ? shard_text(*run.header.shard) : std::string(),
                     .measured = run.header.measured};
  add_problems(database, run.problems, summary);
  return summary;
}

/// Whether the error concerns the whole database, which then cannot be used, and not just some
/// rows.
bool is_of_whole(const Database& database, const Error& error) {
  return error.where() == database.path().string();
}

/// Lists each run once. All runs of a sweep are one entry, at the place of the last one.
class RunLister {
 public:
  explicit RunLister(Database& database) : database_(database) {}

  void add(const Statement& row) {
    const std::int64_t id = row.integer(0);
    if (listed_.contains(id)) {
      return;
    }
    try {
      const nlohmann::json header = parse_record(row.text(1));
      list_.runs.push_back(header_text(header, "/shard/sweep").empty()
                               ? read_summary(database_, id, header, row.flag(2))
                               : add_sweep(id));
    } catch (const Error& error) {
      if (is_of_whole(database_, error)) {
        throw;
      }
      list_.damaged.push_back(id);
    }
  }
  [[nodiscard]] RunList list() { return std::move(list_); }

 private:
  RunSummary add_sweep(std::int64_t last) {
    std::vector<std::int64_t> runs = runs_of_sweep(database_, last);
    RunSummary summary = read_joined_summary(database_, last, runs);
    listed_.insert(runs.begin(), runs.end());
    return summary;
  }

  Database& database_;
  RunList list_;
  std::set<std::int64_t> listed_;
};

std::vector<double> load_samples(Database& database, std::int64_t outcome_id) {
  Statement rows =
      database.query("SELECT us FROM samples WHERE outcome = ? ORDER BY number", outcome_id);
  std::vector<double> us;
  while (rows.step()) {
    us.push_back(rows.real(0));
    check_kernel_time(us.back(), "samples_us");
  }
  return us;
}

}  // namespace

JoinedRun join_runs(const std::vector<StoredShard>& parts) {
  const auto chosen = choose_problems(parts);
  const auto of = contributors(parts, chosen);
  JoinedRun joined{of.front()->header, of.front()->baseline, {}};
  if (of.size() > 1) {
    joined.header = joined_header(of, is_whole(chosen, *of.front()->header.shard));
  }
  for (const auto& [place, taken] : chosen) {
    joined.problems.push_back(taken.row->id);
  }
  return joined;
}

std::int64_t count_finished(Database& database, const Shard& shard) {
  Statement row = database.query(
      "SELECT DISTINCT p.problem FROM run_problems p JOIN runs r ON r.id = p.run "
      "WHERE p.finished = 1 AND r.header ->> '$.shard.sweep' = "
      "(SELECT header ->> '$.shard.sweep' FROM runs WHERE header ->> '$.shard.fleet' = ? "
      " AND header ->> '$.shard.count' = ? AND header ->> '$.shard.numbers[0]' = ? "
      " ORDER BY id DESC LIMIT 1)",
      shard.fleet, shard.count, shard.numbers.front());
  std::vector<Problem> finished;
  while (row.step()) {
    finished.push_back(read_column<Problem>(row, 0));
  }
  return std::ranges::count_if(shard.problems, [&](const PlacedProblem& placed) {
    return std::ranges::find(finished, placed.problem) != finished.end();
  });
}

RunList list_runs(Database& database) {
  Statement rows = database.prepare("SELECT id, header, complete FROM runs ORDER BY id DESC");
  RunLister lister(database);
  while (rows.step()) {
    lister.add(rows);
  }
  return lister.list();
}

std::optional<StoredRun> load_run(Database& database, std::int64_t run_id) {
  try {
    std::optional<StoredRun> run = load_header(database, run_id);
    if (run) {
      JoinedRun whole = run->header.shard
                            ? load_joined(database, runs_of_sweep(database, run_id))
                            : JoinedRun{std::move(run->header), std::move(run->baseline),
                                        problems_of(database, run_id)};
      run = StoredRun{std::move(whole.header), {}, std::move(whole.baseline)};
      for (const std::int64_t id : whole.problems) {
        run->problems.push_back(load_problem(database, id));
      }
    }
    return run;
  } catch (const Error& error) {
    if (is_of_whole(database, error)) {
      throw;
    }
    throw Error(
        error.code(),
        fmt::format("run {} cannot be read: {} {}", run_id, error.what_was_wrong(), error.where()),
        database.path().string(), "other runs may be readable: see 'fatune history'");
  }
}

StoredProblem load_problem(Database& database, std::int64_t run_problem) {
  Statement row = database.query(
      "SELECT problem, repetition, ranked, report FROM run_problems WHERE id = ?", run_problem);
  if (!row.step()) {
    database.fail_damaged("a problem is missing");
  }
  StoredProblem problem{run_problem, read_column<ProblemReport>(row, 3), row.flag(2)};
  problem.report.problem = read_column<Problem>(row, 0);
  problem.report.run = row.small_integer(1);
  load_results(database, problem);
  return problem;
}

std::optional<std::int64_t> last_run(Database& database) {
  Statement row = database.prepare("SELECT max(id) FROM runs");
  return row.step() && !row.is_null(0) ? std::optional(row.integer(0)) : std::nullopt;
}

std::string header_text(const nlohmann::json& header, const char* pointer) {
  const nlohmann::json::json_pointer at(pointer);
  return header.contains(at) && header[at].is_string() ? header[at].get<std::string>()
                                                       : std::string();
}

std::string launch_column(LaunchGeometry launch) {
  if (launch.arguments.standard) {
    launch.arguments = {};
  }
  return column_text(launch);
}

std::string result_column(const Result& result) {
  Result rest = result;
  if (auto* measured = std::get_if<Measured>(&rest.outcome)) {
    measured->timing.samples_us.clear();
  }
  return column_text(rest);
}

Result load_result(Database& database, const std::string& text, std::int64_t source) {
  auto result = read_record<Result>(parse_record(text));
  if (auto* measured = std::get_if<Measured>(&result.outcome)) {
    measured->timing.samples_us = load_samples(database, source);
  }
  return result;
}

void save_samples(Database& database, std::int64_t outcome_id, const std::vector<double>& us) {
  Statement insert = database.prepare("INSERT INTO samples (outcome, number, us) VALUES (?, ?, ?)");
  std::int64_t number = 0;
  for (const double sample_us : us) {
    insert.bind(outcome_id, ++number, sample_us).run();
  }
}

}  // namespace fatune
