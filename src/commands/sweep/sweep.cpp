#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/path_option.hpp"
#include "cli/subcommands.hpp"
#include "cli/text_option.hpp"
#include "commands/sweep/sweep_command.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kMostConfigs = 10'000'000;

void add_audit_option(CLI::App& app, AuditOptions& audit) {
  const OptionScope scope(app, option_group::kSearch);
  add_text_option(app, "--audit", "N|all",
                  "also try N configurations per problem that the rules dropped, and say what the "
                  "rules saved and cost",
                  [&](const std::string& text) {
                    audit.all = text == "all";
                    audit.count = audit.all ? 0 : parse_integer(text, "--audit", 1, kMostSamples);
                  });
}

void add_against_options(CLI::App& app, AgainstOptions& against) {
  const OptionScope scope(app, option_group::kMeasuring);
  add_text_option(
      app, "--against", "N|last|FILE",
      "race each winner against that of this stored run, best_configs.json or "
      "results.json, in the same rounds; exit code 12 if it is slower",
      [&](const std::string& text) { against.best = read_path(text, "--against").string(); });
  add_text_option(app, "--against-source", "DIR|REV",
                  "build what is raced against from the kernels in this folder, or of this git "
                  "revision; without --against: all configurations",
                  [&](const std::string& text) { against.source = text; });
  add_tolerance_option(app, against.tolerance_percent);
}

void add_shard_options(CLI::App& app, ShardOptions& shard,
                       std::optional<std::filesystem::path>& record_dir) {
  const OptionScope scope(app, option_group::kFleets);
  CLI::Option* const number = add_text_option(
      app, "--shard", "I/N|auto",
      "only the problems of shard I of N, e.g. 3/8; auto: that of this Slurm job array task",
      [&](const std::string& text) { shard.shard = read_shard(text); });
  number->excludes("--cover");
  add_text_option(app, "--fleet", "NAME",
                  "name for the shards: merging joins shards of one name and sweep into one run",
                  [&](const std::string& text) { shard.fleet = text; })
      ->needs(number);
  add_path_option(app, "--record", "DIR",
                  "folder that gets a copy of the store when the shard has ended, and then the "
                  "record that it has",
                  record_dir)
      ->needs(number)
      ->needs("--db");
}

void add_search_options(CLI::App& app, SearchOptions& search, SimulationOptions& simulation) {
  const OptionScope scope(app, option_group::kSearch);
  add_text_option(app, "--search", "auto|exhaustive|random|local|model",
                  "which configurations are tried (default: auto: all of a small space, else those "
                  "that a model of the times so far proposes, until more is unlikely to help)",
                  [&](const std::string& text) { search.kind = parse_search(text); });
  add_text_option(app, "--max-configs", "N",
                  "try at most N configurations per problem (default: all in an exhaustive search, "
                  "else 5 percent, at least 128, or 48 for auto, and at most 256)",
                  [&](const std::string& text) {
                    search.max_configs = static_cast<std::size_t>(
                        parse_integer(text, "--max-configs", 1, kMostConfigs));
                  });
  add_text_option(
      app, "--simulate", "N|last|FILE",
      "measure nothing: replay the searches on this stored run or results.json, and say "
      "how many configurations each tries until one is within 1 percent of the fastest",
      [&](const std::string& text) { simulation.input = text; });
  add_integer(app, "--seeds", "with --simulate: replays of each search (default: 10)", 1, 1000,
              simulation.seeds);
}

}  // namespace

void add_sweep_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "sweep", "Find the fastest configuration for each problem", sweep);
  options.kernels.kernels_variable = all.kernels_variable;
  add_measure_options(sub, options, SpaceOption::yes, Strategy::race);
  add_audit_option(sub, options.audit);
  add_cover_option(
      sub,
      "with several problems: also time, on each, winners of the others that the rules "
      "dropped there, and show the smallest set of configurations that has one within "
      "PERCENT of each winner",
      options.cover_percent);
  add_against_options(sub, options.against);
  add_junit_option(sub, options.junit_file);
  add_shard_options(sub, options.shard, options.record_dir);
  add_search_options(sub, options.search, options.simulation);
  add_counters_option(sub, options.counters);
  add_view_options(sub, options.output.view);
  sub.footer(R"(Examples:
  fatune sweep --seq 4096 --dhead 128
  fatune sweep --seq 1024,2048,4096 --dhead 128 --dtype fp16,bf16 --out results
  fatune sweep --seq 8192 --dhead 64 --causal --space all --best best.json
  fatune sweep --seq 4096 --dhead 128 --arch sm_80 --device none   (an estimate)
  fatune sweep --seq 4096 --dhead 128 --search model --max-configs 300
  fatune sweep --simulate results/results.json      (compare searches, no GPU)
  fatune sweep --seq 512,4096 --columns seq_len,config,time_us --sort time_us
  fatune sweep --seq 512,1024,2048 --shard 3/8 --db 3.db   (docs/fleets.md)
  KERNELS=64,32 fatune sweep --seq 1000 --format csv)");
}

}  // namespace fatune
