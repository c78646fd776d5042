#include "store/joined_runs.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/ranges.hpp"
#include "store/stored_result.hpp"

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
    std::ranges::copy_if(part->header.disturbances, std::back_inserter(all),
                         [&](const std::string& one) { return !is_among(one, all); });
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
  Statement row = database.prepare(
      "SELECT DISTINCT p.problem FROM run_problems p JOIN runs r ON r.id = p.run "
      "WHERE p.finished = 1 AND r.header ->> '$.shard.sweep' = "
      "(SELECT header ->> '$.shard.sweep' FROM runs WHERE header ->> '$.shard.fleet' = ? "
      " AND header ->> '$.shard.count' = ? AND header ->> '$.shard.numbers[0]' = ? "
      " ORDER BY id DESC LIMIT 1)");
  row.bind(shard.fleet, shard.count, shard.numbers.front());
  std::vector<Problem> finished;
  while (row.step()) {
    finished.push_back(read_column<Problem>(row, 0));
  }
  return std::ranges::count_if(shard.problems, [&](const PlacedProblem& placed) {
    return std::ranges::find(finished, placed.problem) != finished.end();
  });
}

}  // namespace fatune
