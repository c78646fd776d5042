#include "app/choice/shards.hpp"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/sha256.hpp"
#include "core/text_parts.hpp"
#include "engine/problem_plan.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

std::optional<int> slurm_number(const char* variable) {
  const auto text = environment_variable(variable);
  return text ? whole_number<int>(*text) : std::nullopt;
}

Shard slurm_shard() {
  const auto task = slurm_number("SLURM_ARRAY_TASK_ID");
  const auto count = slurm_number("SLURM_ARRAY_TASK_COUNT");
  const auto first = slurm_number("SLURM_ARRAY_TASK_MIN");
  const auto last = slurm_number("SLURM_ARRAY_TASK_MAX");
  if (!task || !count || !first || !last) {
    throw Error(ExitCode::usage, "this is not a task of a Slurm job array", "--shard auto",
                "name the shard, e.g. --shard 3/8");
  }
  if (std::int64_t{*last} - *first + 1 != *count) {
    throw Error(ExitCode::usage,
                fmt::format("the array's {} tasks, from {} to {}, are only a part of a sweep",
                            *count, *first, *last),
                "--shard auto", "name the shard: --shard \"$SLURM_ARRAY_TASK_ID\"/COUNT");
  }
  return parse_shard(fmt::format("{}/{}", std::int64_t{*task} - *first + 1, *count));
}

}  // namespace

int shard_of(const Problem& problem, int count) {
  constexpr std::size_t kDigits = 15;  // the hash has 64; the number must fit in a signed integer
  constexpr int kHexadecimal = 16;
  const std::string digits = sha256_hex(record_text(record_json(problem))).substr(0, kDigits);
  return static_cast<int>(whole_number<std::int64_t>(digits, kHexadecimal).value() % count) + 1;
}

Shard read_shard(const std::string& text) {
  Shard shard = text == "auto" ? slurm_shard() : parse_shard(text);
  if (shard.numbers.size() != 1) {
    throw Error(ExitCode::usage, fmt::format("'{}' names several shards", text), "--shard",
                "start fatune once for each");
  }
  return shard;
}

std::optional<Shard> take_shard(const ShardOptions& options, std::vector<ProblemPlan>& problems) {
  if (!options.shard) {
    return std::nullopt;
  }
  Shard shard = *options.shard;
  shard.fleet = options.fleet;
  shard.sweep_problems = std::ssize(problems);
  std::vector<ProblemPlan> taken;
  for (std::int64_t place = 0; place < shard.sweep_problems; ++place) {
    ProblemPlan& plan = problems[static_cast<std::size_t>(place)];
    if (shard_of(plan.problem, shard.count) == shard.numbers.front()) {
      shard.problems.push_back({place, plan.problem});
      taken.push_back(std::move(plan));
    }
  }
  problems = std::move(taken);
  return shard;
}

}  // namespace fatune
