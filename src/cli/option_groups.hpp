#pragma once

#include <CLI/CLI.hpp>

#include "app/option_groups.hpp"
#include "cli/option.hpp"

// Options that several subcommands share, each group declared once.
namespace fatune {

/// Whether a command has --space. The default for `yes` is the variable KERNELS or the family's own
/// space, for `of_file` the space that the command's input file names.
enum class SpaceOption { no, yes, of_file };

/// Whether the command takes several kernel families.
enum class FamilyOption { one, several };

void add_kernel_options(CLI::App& app, KernelOptions& kernels, SpaceOption space,
                        FamilyOption families = FamilyOption::one);
inline constexpr const char* kSweptSeqLens = "512,1024,2048,4096";
inline constexpr const char* kCompiledSeqLen = "4096";  ///< default if nothing is measured
/// Adds --preset, --seq, --dhead, --dtype, --causal, --batch, --heads and the details.
/// `default_seq_lens` is used only in the help.
void add_problem_options(CLI::App& app, ProblemOptions& problems,
                         const std::string& default_seq_lens = kSweptSeqLens);
/// Adds --preset. It must be added before the options whose values it sets: CLI11 processes options
/// in the order in which they were added, and later options override what a preset has set.
void add_preset_option(CLI::App& app, ProblemOptions& problems);
/// Adds --causal and --no-causal.
void add_causal_options(CLI::App& app, ProblemOptions& problems);
/// Adds only --dhead and --dtype.
void add_binding_options(CLI::App& app, ProblemOptions& problems);
/// Adds an option for each of a problem's details. `most_keys`: the maximum length of the keys.
void add_detail_options(CLI::App& app, ProblemOptions& problems, std::int64_t most_keys);
void add_target_options(CLI::App& app, TargetOptions& target);
void add_arch_option(CLI::App& app, std::optional<Arch>& arch);
/// Adds --cache-dir and --no-cache.
void add_cache_options(CLI::App& app, CompileSettings& compile);
/// Adds --jobs and the cache options.
void add_compile_settings(CLI::App& app, CompileSettings& compile);
/// Adds --config, which is repeatable. `doc`: its help text.
CLI::Option* add_configs_option(CLI::App& app, std::vector<std::string>& configs,
                                const std::string& doc);
/// Adds --strategy, --repeats, --warmup, --budget, --target-ci, --parts, --confidence, --l2,
/// --no-flush, --graph, --no-gate and --seed. `otherwise`: the strategy if the command line does
/// not select one.
void add_policy_options(CLI::App& app, MeasureOptions& options, Strategy otherwise);
/// Adds --counters.
void add_counters_option(CLI::App& app, int& counters);
/// Adds --cover. `help`: its help text.
void add_cover_option(CLI::App& app, const char* help, std::optional<double>& percent);
/// Adds --tolerance, of verdicts.
void add_tolerance_option(CLI::App& app, std::optional<double>& percent);
/// Adds --junit, of verdicts.
void add_junit_option(CLI::App& app, std::optional<std::filesystem::path>& file);
/// Adds --db.
void add_db_option(CLI::App& app, std::optional<std::filesystem::path>& file);
/// Adds --best, --run and --db, which select the tuned problems.
void add_tuned_options(CLI::App& app, TunedOptions& tuned);
/// Adds --db, --no-db, --fresh and --reuse.
void add_store_options(CLI::App& app, StoreOptions& store);
/// Adds --no-emulate.
void add_emulate_option(CLI::App& app, bool& emulate);
/// Adds --out and --best.
void add_file_options(CLI::App& app, MeasureOptions& options);
/// Adds --out, --best, --baseline and --strict.
void add_result_options(CLI::App& app, MeasureOptions& options);
/// Adds --format, --quiet and -v.
void add_output_options(CLI::App& app, OutputOptions& output);
/// Adds -q and -v.
void add_verbosity_options(CLI::App& app, OutputOptions& output);
void add_top_option(CLI::App& app, OutputOptions& output);
/// Adds --columns, --sort and --filter.
void add_view_options(CLI::App& app, TableView& view);

/// Adds all groups of `sweep` and `run`.
void add_measure_options(CLI::App& app, MeasureOptions& options, SpaceOption space,
                         Strategy strategy);

}  // namespace fatune
