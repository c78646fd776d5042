#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attention/input_kind.hpp"
#include "attention/problem_details.hpp"
#include "core/arch.hpp"
#include "core/map_target.hpp"
#include "core/output_format.hpp"
#include "core/sanitizer.hpp"
#include "report/emulation.hpp"
#include "report/report.hpp"

// The options of the command line, as plain values. cli/ ensures that lists have no duplicates and
// counts are positive.
namespace fatune {

/// Which kernels, from where.
struct KernelOptions {
  std::string family;  ///< or several, joined by kJoin; empty or kEveryFamily: kernel_choice.hpp
  std::vector<std::filesystem::path> kernel_dirs;   ///< laid over the built-in families, in order
  std::vector<std::filesystem::path> include_dirs;  ///< where kernels' #include looks further
  std::optional<std::string> space;                 ///< key or file
  std::optional<std::string> kernels_variable;      ///< the environment's KERNELS
};

/// Which problems. Empty lists: sequence lengths as documented, the rest as the configurations say.
struct ProblemOptions {
  std::vector<std::int64_t> seq_lens;
  std::vector<std::int64_t> d_heads;
  std::vector<DType> dtypes;
  std::optional<bool> causal;         ///< absent: no
  std::optional<std::int64_t> batch;  ///< absent: documented_batch(seq_len)
  std::optional<std::int64_t> heads;  ///< absent: kDocumentedHeads
  DetailValues details;               ///< what is asked for beyond that
};

/// On what.
struct TargetOptions {
  std::vector<int> devices;  ///< ordinals; empty: the first usable GPU
  bool all_devices = false;  ///< every usable GPU
  bool no_gpu = false;       ///< estimate even if there is a GPU
  bool no_wait = false;      ///< end with an error while another fatune measures on a GPU
  std::optional<Arch> arch;  ///< absent: the GPU's, or sm_90 without one
  bool require_gpu = false;
};

struct CompileSettings {
  int jobs = 0;  ///< 0: one per core
  std::optional<std::filesystem::path> cache_dir;
  bool no_cache = false;
};

/// The place of stored measurements, and whether earlier ones are used.
struct StoreOptions {
  std::optional<std::filesystem::path> file;  ///< absent: default_store_path()
  bool off = false;                           ///< keep nothing, know nothing
  bool fresh = false;                         ///< do not resume an interrupted run
  bool reuse = false;                         ///< take measurements of any earlier run
};

enum class Verbosity { quiet, normal, verbose };

/// How to talk.
struct OutputOptions {
  OutputFormat format = OutputFormat::table;
  std::int64_t top = 10;  ///< rows per problem in a terminal table; 0: all
  Verbosity verbosity = Verbosity::normal;
  bool colour = false;         ///< standard output takes ANSI colours
  bool live_progress = false;  ///< standard error is a terminal: redraw one line
  std::size_t columns = 0;     ///< of the terminal that standard output is; 0: none, or not known
  std::size_t columns_variable = 0;  ///< the environment's COLUMNS; 0: not set
  std::string command_line;          ///< as typed, for the records
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
  std::optional<std::filesystem::path> out_dir;
  std::optional<std::filesystem::path> best_file;
  bool print_best = false;  ///< the best configurations on standard output, and no ranking
  std::optional<std::string> baseline;  ///< configuration that relative_percent refers to
  bool strict = false;
  bool count_rows = false;  ///< verifications say which rows are wrong
  bool matmul_rate = true;  ///< the rate of dense products is measured beside
  bool emulate = true;      ///< without a GPU: verify by emulation
  int counters = 0;         ///< hardware counters of so many of each problem's ranking; 0: none
  std::vector<std::string> launcher;  ///< command of a tool that the worker runs under; not typed
};

/// The configurations that are tried although the rules dropped them.
struct AuditOptions {
  std::int64_t count = 0;  ///< per problem, spread over the rules
  bool all = false;
};

struct SweepOptions : MeasureOptions {
  AuditOptions audit;
};

struct VerifyWinnerOptions : MeasureOptions {
  std::optional<std::filesystem::path> file;  ///< best_configs.json; absent: the one fatune ships
  double tolerance_percent = 0.5;  ///< by how much a winner may be slower than the fastest
};

struct CasesOptions : MeasureOptions {
  std::string cases;  ///< key or file
};

struct RunOptions : MeasureOptions {
  std::vector<std::string> configs;  ///< short forms or kernel names
  int runs = 1;
};

/// Whether configurations compute the right thing. `policy.seed` is the first seed.
struct CheckOptions : MeasureOptions {
  std::vector<std::string> configs;  ///< instead of a space
  int seeds = 1;
  bool small = false;  ///< the documented small problem in place of the documented full one
  std::vector<SanitizerTool> sanitizers;  ///< that every configuration is run under too
};

/// One configuration's intermediates beside those of the algorithm on the CPU.
struct DebugOptions {
  std::string config;  ///< short form or kernel name
  KernelOptions kernels;
  std::int64_t seq_blocks = 4;          ///< sequence length in blocks of query rows
  std::optional<std::int64_t> seq_len;  ///< in place of that
  ProblemOptions problems;              ///< what one head has of them
  InputKind init = InputKind::normal;
  std::uint64_t seed = 1;
  bool emulate = true;  ///< without a GPU: run its PTX on the CPU
  TargetOptions target;
  CompileSettings compile;
  OutputOptions output;
  std::optional<std::filesystem::path> out_dir;
};

/// When asynchronous copies happen in the emulator; late_then_random: once late, then by the seed.
enum class EmulatedTiming { early, late, random, late_then_random };

/// Configurations whose PTX is run on the CPU.
struct EmulateOptions {
  KernelOptions kernels;
  std::vector<std::string> configs;  ///< instead of a space
  ProblemOptions problems;           ///< one length; batch and heads are given
  std::int64_t schedules = 2;
  std::uint64_t seed = 1;  ///< of the inputs, and of the first random schedule
  EmulatedTiming timing = EmulatedTiming::late_then_random;
  std::vector<std::string> checks = all_emulation_checks();  ///< whose findings count
  bool profile = false;
  bool strict = false;
  std::optional<Arch> arch;  ///< absent: the oldest that runs the family
  CompileSettings compile;
  OutputOptions output;
};

struct ListOptions {
  KernelOptions kernels;
  ProblemOptions problems;   ///< one length; without it, rules that wait for a problem do
  std::optional<Arch> arch;  ///< absent: as offline_target()
  OutputOptions output;
  bool with_dropped = false;
  bool presets = false;  ///< the presets of problems, in place of a space
};

struct CompileOptions {
  KernelOptions kernels;
  std::vector<std::string> configs;  ///< instead of a space
  ProblemOptions problems;           ///< one length
  std::optional<Arch> arch;
  CompileSettings compile;
  OutputOptions output;
  std::optional<std::filesystem::path> out_dir;
  bool ptx = false;
  bool strict = false;
};

struct HistoryOptions {
  std::optional<std::filesystem::path> db_file;
  OutputOptions output;
};

struct ShowOptions {
  std::optional<std::filesystem::path> db_file;
  std::optional<std::int64_t> run;  ///< absent: the run that began last
  OutputOptions output;
};

/// The source of the machine code that a command analyses.
struct CodeSource {
  enum class Kind {
    config,
    file,      ///< a cubin, or a listing
    artifact,  ///< what the cubin cache has under a key that begins so
    run,       ///< a configuration by its rank in a stored run
    either,    ///< an artifact as "artifact:KEY", a file when there is one of that name, else a
               ///< config
  };
  std::string text;
  Kind kind = Kind::config;
  std::optional<std::int64_t> run;  ///< absent: the run that began last
};

struct SassOptions {
  std::vector<CodeSource> sources;  ///< two for a comparison
  KernelOptions kernels;
  ProblemOptions problems;  ///< one length
  std::optional<Arch> arch;
  CompileSettings compile;
  OutputOptions output;
  std::int64_t rank = 1;  ///< in the run that the source names
  std::optional<std::filesystem::path> db_file;
  std::string function;  ///< empty: the only kernel
  bool opcodes = false;
  bool listing = false;  ///< of a comparison: the code, not the counts
  bool svg = false;      ///< of a graph: drawn
};

struct SassMapOptions : SassOptions {
  std::optional<MapTarget> target;  ///< absent: all source lines
  std::int64_t depth = 0;           ///< steps of PTX that feed it; 0: all
  bool annotate = false;            ///< the source itself with counts
  bool ptx_text = false;            ///< the PTX alone
};

struct SassWhyOptions {
  KernelOptions kernels;
  ProblemOptions problems;  ///< one length
  std::optional<Arch> arch;
  CompileSettings compile;
  OutputOptions output;
  std::optional<std::filesystem::path> db_file;
  bool with_run = false;            ///< a stored run instead of a space
  std::optional<std::int64_t> run;  ///< absent: the run that began last
};

/// The reader of the counters.
enum class CounterReader {
  ncu,    ///< Nsight Compute, in front of the worker
  cupti,  ///< the worker itself
};

struct ProfileOptions {
  KernelOptions kernels;
  ProblemOptions problems;
  TargetOptions target;
  CompileSettings compile;
  OutputOptions output;
  std::vector<std::string> configs;  ///< instead of a space or a run
  std::optional<std::filesystem::path> db_file;
  bool with_run = false;                           ///< the first of a stored run's rankings
  std::optional<std::int64_t> run;                 ///< absent: the run that began last
  int top = 5;                                     ///< of each ranking; 0: all
  std::vector<std::string> metrics{"documented"};  ///< sets, figures, raw metrics
  bool all_sections = false;                       ///< all that ncu knows, into its report
  int runs = 3;                                    ///< launches that are counted and averaged
  std::optional<std::string> baseline;  ///< configuration that relative_percent refers to
  CounterReader reader = CounterReader::ncu;
  std::optional<std::filesystem::path> out_dir;
  bool timeline = false;                            ///< Nsight Systems, no counters
  std::optional<std::filesystem::path> script_dir;  ///< write scripts, run nothing
  std::optional<std::filesystem::path> imported;    ///< read this report, run nothing
};

struct DevicesOptions {
  OutputOptions output;
};

struct DoctorOptions {
  CompileSettings compile;
  OutputOptions output;
};

}  // namespace fatune
