#include "engine/choice/plan_problems.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/file_tree.hpp"
#include "base/ranges.hpp"
#include "base/sha256.hpp"
#include "base/text_parts.hpp"
#include "engine/choice/workload_order.hpp"
#include "model/kv_pages.hpp"
#include "model/record_json.hpp"

namespace fatune {
namespace {

/// Returns an empty text if there is none. Printed JSON has null where the file has nothing.
std::string text_in(const JsonNode& node, const char* key) {
  const auto found = node.find(key);
  return found && !found->raw().is_null() ? found->text() : std::string();
}

ProblemPreset read_one(const JsonNode& node) {
  return {.name = node.at("name").text(),
          .heads = node.at("heads").integer(),
          .d_head = node.at("d_head").integer(),
          .dtype = parse_dtype(node.at("dtype").text()),
          .causal = node.at("causal").boolean(),
          .details = read_details(node),
          .note = text_in(node, "note"),
          .source = node.at("source").text()};
}

ProblemOptions with_mask(ProblemOptions options, bool causal) {
  options.causal = causal;
  return options;
}

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

std::vector<ProblemPreset> load_presets() {
  const JsonFile file = load_json(FileTree(), "configs/presets.json", "presets");
  return mapped(file.root().at("presets").elements(),
                [&](const JsonNode& node) { return read_one(node); });
}

void apply_preset(const ProblemPreset& preset, ProblemOptions& problems) {
  problems.heads = preset.heads;
  problems.d_heads = {preset.d_head};
  problems.dtypes = {preset.dtype};
  problems.causal = preset.causal;
  problems.details = preset.details;
}

std::vector<Problem> default_problems(const Family& family, const Config& config,
                                      const ProblemOptions& whole, const ProblemOptions& ragged,
                                      const DeviceLimits& limits) {
  std::vector<Problem> problems;
  const auto problem_of = [&](const ProblemOptions& options) {
    return problem_for(family, config, options, options.seq_lens.front());
  };
  const auto add = [&](const ProblemOptions& options) {
    const Problem problem = problem_of(options);
    const bool possible = !check_valid(family, config, &problem, &limits);
    if (possible) {
      problems.push_back(problem);
    }
    return possible;
  };
  add(whole);
  add(ragged);
  if (!whole.causal && !add(with_mask(ragged, true))) {
    add(with_mask(whole, true));
  }
  return problems.empty() ? std::vector{problem_of(whole)} : problems;
}

int shard_of(const Problem& problem, int count) {
  constexpr std::size_t kDigits = 15;  // the hash has 64; the number must fit in a signed integer
  constexpr int kHexadecimal = 16;
  auto record = record_json(problem);
  for (const char* newer :
       {"seq_lens_kv", "softcap", "sinks", "seq_lens", "latent", "kv_dtype", "kv_scales"}) {
    if (!is_unusual(find_detail(newer), problem)) {
      record.erase(newer);  // versions that did not know it have the same shards
    }
  }
  if (!has_pages(problem)) {
    record.erase("page_size");  // as with lengths
  }
  const std::string digits = sha256_hex(record_text(record)).substr(0, kDigits);
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
  const bool is_workload = !problems.empty() && problems.front().calls;
  const std::vector<int> shards = is_workload ? balanced_shards(problems, shard.count)
                                              : mapped(problems, [&](const ProblemPlan& plan) {
                                                  return shard_of(plan.problem, shard.count);
                                                });
  std::vector<ProblemPlan> taken;
  for (std::int64_t place = 0; place < shard.sweep_problems; ++place) {
    ProblemPlan& plan = problems[static_cast<std::size_t>(place)];
    if (shards[static_cast<std::size_t>(place)] == shard.numbers.front()) {
      shard.problems.push_back({place, plan.problem});
      taken.push_back(std::move(plan));
    }
  }
  problems = std::move(taken);
  return shard;
}

}  // namespace fatune
