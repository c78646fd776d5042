#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/device_limits.hpp"
#include "model/measure_policy.hpp"
#include "model/output_format.hpp"
#include "model/problem.hpp"

// Command-line options that several commands share, as plain values. Options of a single command
// are in its file in commands/. cli/ ensures that lists have no duplicates and counts are positive.
namespace fatune {

/// Options that select the kernels and where they come from.
struct KernelOptions {
  std::string family;  ///< several are joined by kJoin; empty or kEveryFamily: kernel_choice.hpp
  std::vector<std::filesystem::path> kernel_dirs;   ///< laid over the built-in families, in order
  std::vector<std::filesystem::path> include_dirs;  ///< further folders for kernels' #include
  std::vector<std::string> allowed_options;     ///< compiler options besides those always allowed
  std::optional<std::string> space;             ///< key or file
  std::optional<std::string> kernels_variable;  ///< the environment's KERNELS
};

/// Options that select the problems. Empty lists: the default sequence lengths, and for the rest
/// the values of the configurations.
struct ProblemOptions {
  std::vector<std::int64_t> seq_lens;
  std::vector<std::int64_t> d_heads;
  std::vector<DType> dtypes;
  std::optional<bool> causal;         ///< absent: no
  std::optional<std::int64_t> batch;  ///< absent: as many as lengths of keys are listed, if any
  std::optional<std::int64_t> usual_batch;  ///< otherwise; absent: default_batch(seq_len)
  std::optional<std::int64_t> heads;        ///< absent: kDefaultHeads
  DetailValues details;                     ///< the requested details
};

/// Options that select the GPU or architecture.
struct TargetOptions {
  std::vector<int> devices;  ///< ordinals; empty: the first usable GPU
  bool all_devices = false;  ///< every usable GPU
  bool no_gpu = false;       ///< estimate even if there is a GPU
  bool no_wait = false;      ///< end with an error while another fatune measures on a GPU
  std::optional<Arch> arch;  ///< absent: the GPU's, or offline_target()'s without one
  bool require_gpu = false;
};

struct CompileSettings {
  int jobs = 0;  ///< 0: usable_cores()
  std::optional<std::filesystem::path> cache_dir;
  bool no_cache = false;
};

/// Options that select the store of measurements, and whether earlier ones are used.
struct StoreOptions {
  std::optional<std::filesystem::path> file;  ///< absent: default_store_path()
  bool off = false;                           ///< store nothing, and use nothing stored
  bool fresh = false;                         ///< do not resume an interrupted run
  bool reuse = false;                         ///< take measurements of any earlier run
};

/// Options that select the tuned problems. If they name nothing: what fatune ships.
struct TunedOptions {
  std::vector<std::filesystem::path> best_files;  ///< best_configs.json or results.json
  std::vector<std::optional<std::int64_t>> runs;  ///< numbers of stored runs; absent: the last run
  std::optional<std::filesystem::path> db_file;   ///< absent: default_store_path()
};

enum class Verbosity { quiet, normal, verbose };

/// Options that control the output.
struct OutputOptions {
  OutputFormat format = OutputFormat::table;
  std::int64_t top = 10;  ///< rows per problem in a terminal table; 0: all. See rows_shown()
  Verbosity verbosity = Verbosity::normal;
  TableView view;              ///< selects and sorts records and columns; may be unset
  bool colour = false;         ///< standard output takes ANSI colours
  bool live_progress = false;  ///< standard error is a terminal: redraw one line
  std::size_t columns = 0;     ///< width of the terminal on standard output; 0: none, or not known
  std::size_t columns_variable = 0;  ///< the environment's COLUMNS; 0: not set
  std::string command_line;          ///< what the user typed; records keep it
};

/// The rows of each ranking that people see, 0: all. A table has ten unless --top says otherwise,
/// and Markdown has all.
[[nodiscard]] inline std::size_t rows_shown(const OutputOptions& output) {
  return output.format == OutputFormat::markdown ? output.view.top
                                                 : static_cast<std::size_t>(output.top);
}

/// Options of commands that compile configurations and time none.
struct OfflineOptions {
  KernelOptions kernels;
  ProblemOptions problems;   ///< one length
  std::optional<Arch> arch;  ///< absent: as offline_target()
  CompileSettings compile;
  OutputOptions output;
};

/// The files of a run's results, apart from the ranking on standard output. All may be absent.
struct ResultFiles {
  std::optional<std::filesystem::path> folder;     ///< results.json, results.csv, best_configs.json
  std::optional<std::filesystem::path> best_file;  ///< best_configs.json under another name
  bool print_best = false;  ///< best_configs.json on standard output, in place of the ranking
  std::optional<std::filesystem::path> junit_file;  ///< verdicts on winners, as JUnit XML
};

/// The options that `sweep` and `run` share.
struct MeasureOptions {
  KernelOptions kernels;
  ProblemOptions problems;
  TargetOptions target;
  CompileSettings compile;
  MeasurePolicy policy;
  StoreOptions store;
  OutputOptions output;
  ResultFiles files;
  std::optional<std::string> baseline;  ///< configuration that relative_percent refers to
  bool strict = false;
  bool count_rows = false;   ///< verifications say which rows are wrong
  bool device_rates = true;  ///< also measure what products and reads reach
  bool emulate = true;       ///< verify by emulation if there is no GPU
  int counters = 0;          ///< read counters of this many of each problem's ranking; 0: none
  std::vector<std::string> given_for_times;  ///< the given options that only timing heeds
  std::vector<std::string> launcher;  ///< command of a tool that runs the worker; not an option
};

/// Options that select what `sweep` races its winners against. Neither is given: nothing.
struct AgainstOptions {
  std::optional<std::string> best;          ///< a stored run or a file: its winners
  std::optional<std::string> source;        ///< a folder of kernels, or a revision of git
  std::optional<double> tolerance_percent;  ///< absent: kTolerancePercent
};

/// Options that select which of a problem's configurations are tried.
struct SearchOptions {
  std::optional<SearchKind> kind;          ///< absent: automatic
  std::optional<std::size_t> max_configs;  ///< limit for each problem; absent: the search decides
};

/// Options for replays of searches in place of a sweep.
struct SimulationOptions {
  std::optional<std::string> input;  ///< recorded results: a stored run or a file; absent: none
  int seeds = 10;                    ///< replays of each search
};

/// Options that select configurations to try although the rules dropped them.
struct AuditOptions {
  std::int64_t count = 0;  ///< how many of each problem, spread over the rules
  bool all = false;
};

}  // namespace fatune
