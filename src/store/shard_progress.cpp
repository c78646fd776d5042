#include "store/shard_progress.hpp"

#include <algorithm>
#include <vector>

#include "store/stored_result.hpp"

namespace fatune {

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
