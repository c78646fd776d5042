#pragma once

#include <CLI/CLI.hpp>

#include "cli/command_page.hpp"
#include "model/options.hpp"
#include "model/problem.hpp"

namespace fatune {

/// Splits "a, b" at the commas and trims blanks around parts. An empty text is one empty part.
[[nodiscard]] std::vector<std::string_view> split_at_commas(std::string_view text);

/// Parses an integer from `least` to `greatest`, decimal digits only. A leading '-' is parsed, so
/// that the error can say that the number is out of range. Throws Error(usage) with the option, the
/// text and the range.
[[nodiscard]] std::int64_t parse_integer(std::string_view text, const std::string& option,
                                         std::int64_t least, std::int64_t greatest);

/// Parses a stored run's number, from 1. Returns nothing for "last". Throws as parse_integer().
[[nodiscard]] std::optional<std::int64_t> parse_run(std::string_view text,
                                                    const std::string& option);

/// Parses a number from `least` to `greatest`: "20", "0.5". Throws as parse_integer().
[[nodiscard]] double parse_number(std::string_view text, const std::string& option, double least,
                                  double greatest);

/// Parses "512,1024": integers from `least` to `greatest`, in the given order, without duplicates.
/// Blanks around commas are allowed. Throws Error(usage) also for an empty list or element.
[[nodiscard]] std::vector<std::int64_t> parse_integer_list(std::string_view text,
                                                           const std::string& option,
                                                           std::int64_t least,
                                                           std::int64_t greatest);

/// Parses "fp16,bf16" in the same way.
[[nodiscard]] std::vector<DType> parse_dtype_list(std::string_view text, const std::string& option);

// Adds one option to a command. fatune's own readers parse the text; their errors name the correct
// form.

inline constexpr std::int64_t kMostSamples = 1000000;

/// Puts the options that are added to a command during the scope's life into a group of the help.
class OptionScope {
 public:
  /// `group`: one of kOptionGroups.
  OptionScope(CLI::App& app, const char* group)
      : app_(app), before_(app.option_defaults()->get_group()) {
    app.option_defaults()->group(group);
  }
  ~OptionScope() { app_.option_defaults()->group(before_); }
  OptionScope(const OptionScope&) = delete;
  OptionScope& operator=(const OptionScope&) = delete;

 private:
  CLI::App& app_;
  std::string before_;
};

/// Adds an option whose text is given to `reader`.
template <typename Reader>
CLI::Option* add_text_option(CLI::App& app, const std::string& name, const std::string& type,
                             const std::string& doc, Reader reader) {
  return app
      .add_option_function<std::string>(
          name, [reader](const std::string& text) { reader(text); }, doc)
      ->type_name(type);
}

/// Adds an option whose value is its text, or what `read` makes of the text, or of the text and the
/// option's name.
template <typename Value, typename Read = std::identity>
CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& type,
                       const std::string& doc, Value& value, Read read = {}) {
  return add_text_option(app, name, type, doc, [=, &value](const std::string& text) {
    if constexpr (std::is_invocable_v<Read, const std::string&, const std::string&>) {
      value = read(text, name);
    } else {
      value = read(text);
    }
  });
}

/// Adds an option that takes a number. `value`: a number or an optional number; it gets what is
/// given, divided by `divisor`.
template <typename Number>
CLI::Option* add_number(CLI::App& app, const std::string& name, const std::string& type,
                        const std::string& doc, double least, double greatest, Number& value,
                        double divisor = 1.0) {
  return add_text_option(app, name, type, doc, [=, &value](const std::string& text) {
    value = parse_number(text, name, least, greatest) / divisor;
  });
}

/// Adds an integer option. `value`: an integer or an optional integer.
template <typename Integer>
CLI::Option* add_integer(CLI::App& app, const std::string& name, const std::string& doc,
                         std::int64_t least, std::int64_t greatest, Integer& value) {
  return add_text_option(app, name, "N", doc, [=, &value](const std::string& text) {
    if constexpr (requires { value.reset(); }) {
      value = static_cast<typename Integer::value_type>(parse_integer(text, name, least, greatest));
    } else {
      value = static_cast<Integer>(parse_integer(text, name, least, greatest));
    }
  });
}

/// Returns the path. Throws Error(usage) for an empty name, which "$UNSET" gives.
[[nodiscard]] std::filesystem::path read_path(const std::string& text, const std::string& option);

/// Adds an option that takes a path. `path`: a path or an optional path.
template <typename Path>
CLI::Option* add_path_option(CLI::App& app, const std::string& name, const std::string& type,
                             const std::string& doc, Path& path) {
  return add_value(app, name, type, doc, path, read_path);
}

/// Adds a list of paths: a positional argument or a repeatable option.
CLI::Option* add_paths(CLI::App& app, const std::string& name, const char* type,
                       const std::string& doc, std::vector<std::filesystem::path>& paths);

// Options that several subcommands share, each group declared once.

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
/// Adds --strategy, --repeats, --warmup, --budget, --target-ci, --parts, --sustain, --confidence,
/// --l2, --no-flush, --graph, --no-gate and --seed. `otherwise`: the strategy if the command line
/// does not select one.
void add_policy_options(CLI::App& app, MeasureOptions& options, Strategy otherwise);
void add_counters_option(CLI::App& app, int& counters);
void add_cover_option(CLI::App& app, const char* help, std::optional<double>& percent);
void add_tolerance_option(CLI::App& app, std::optional<double>& percent);
void add_junit_option(CLI::App& app, std::optional<std::filesystem::path>& file);
void add_db_option(CLI::App& app, std::optional<std::filesystem::path>& file);
/// Adds --best, --run and --db, which select the tuned problems.
void add_tuned_options(CLI::App& app, TunedOptions& tuned);
/// Adds --db, --no-db, --fresh and --reuse.
void add_store_options(CLI::App& app, StoreOptions& store);
/// Adds --no-emulate.
void add_emulate_option(CLI::App& app, bool& emulate);
/// Adds --out and --best.
void add_file_options(CLI::App& app, MeasureOptions& options);
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
