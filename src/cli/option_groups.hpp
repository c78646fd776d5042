#pragma once

#include <CLI/CLI.hpp>

#include "app/option_groups.hpp"

// Options that several subcommands share, each group declared once.
namespace fatune {

/// --space, and what it is by default: the variable KERNELS or the family's own, or what the file
/// says that the command reads.
enum class SpaceOption { no, yes, of_file };

/// Whether the command takes several kernel families.
enum class FamilyOption { one, several };

void add_kernel_options(CLI::App& app, KernelOptions& kernels, SpaceOption space,
                        FamilyOption families = FamilyOption::one);
inline constexpr const char* kSweptSeqLens = "512,1024,2048,4096";
inline constexpr const char* kCompiledSeqLen = "4096";  ///< of commands that measure nothing
/// --preset, --seq --dhead --dtype --causal --batch --heads and details. `default_seq_lens` is for
/// the help alone.
void add_problem_options(CLI::App& app, ProblemOptions& problems,
                         const std::string& default_seq_lens = kSweptSeqLens);
/// --preset. It must be added before the options whose values it sets: CLI11 reads options in the
/// order in which they were added, and what is read later replaces what a preset has set.
void add_preset_option(CLI::App& app, ProblemOptions& problems);
/// --causal --no-causal
void add_causal_options(CLI::App& app, ProblemOptions& problems);
/// --dhead and --dtype alone.
void add_binding_options(CLI::App& app, ProblemOptions& problems);
/// An option for each of a problem's details. `most_keys`: the greatest length of keys.
void add_detail_options(CLI::App& app, ProblemOptions& problems, std::int64_t most_keys);
void add_target_options(CLI::App& app, TargetOptions& target);
void add_arch_option(CLI::App& app, std::optional<Arch>& arch);
/// --cache-dir --no-cache
void add_cache_options(CLI::App& app, CompileSettings& compile);
/// --jobs, and the above
void add_compile_settings(CLI::App& app, CompileSettings& compile);
/// --config, repeatable. `doc`: what is named.
CLI::Option* add_configs_option(CLI::App& app, std::vector<std::string>& configs,
                                const std::string& doc);
/// --strategy --repeats --warmup --budget --target-ci --confidence --l2 --no-flush --graph
/// --no-gate
/// --seed. `otherwise`: the strategy of a command line that says nothing about it.
void add_policy_options(CLI::App& app, MeasurePolicy& policy, Strategy otherwise);
/// --counters
void add_counters_option(CLI::App& app, int& counters);
/// --cover; `help`: what it does.
void add_cover_option(CLI::App& app, const char* help, std::optional<double>& percent);
/// --db
void add_db_option(CLI::App& app, std::optional<std::filesystem::path>& file);
/// --best --run --db: where tuned problems come from
void add_tuned_options(CLI::App& app, TunedOptions& tuned);
/// --db --no-db --fresh --reuse
void add_store_options(CLI::App& app, StoreOptions& store);
/// --no-emulate
void add_emulate_option(CLI::App& app, bool& emulate);
/// --out --best
void add_file_options(CLI::App& app, MeasureOptions& options);
/// --out --best --baseline --strict
void add_result_options(CLI::App& app, MeasureOptions& options);
/// --format --quiet -v
void add_output_options(CLI::App& app, OutputOptions& output);
/// -q -v
void add_verbosity_options(CLI::App& app, OutputOptions& output);
void add_top_option(CLI::App& app, OutputOptions& output);
/// --columns --sort --filter
void add_view_options(CLI::App& app, TableView& view);

/// All groups of `sweep` and `run`.
void add_measure_options(CLI::App& app, MeasureOptions& options, SpaceOption space,
                         Strategy strategy);

}  // namespace fatune
