#include "base/json_file.hpp"
#include "cli/subcommands.hpp"
#include "commands/row_reports.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/choice/plan_problems.hpp"
#include "model/device_limits.hpp"
#include "model/output_format.hpp"
#include "store/open_store.hpp"
#include "store/run_parts.hpp"
#include "store/run_writer.hpp"
#include "store/tuning_file.hpp"

namespace fatune {

struct ImportedRun {
  std::int64_t run = 0;  ///< its number in the store
  std::string started_at;
  std::string device;
  std::string family;
  std::size_t problems = 0;
  std::size_t ranked = 0;  ///< over all problems
  std::size_t failed = 0;
  bool complete = true;
};

Fields<ImportedRun> imported_run_fields() {
  using R = ImportedRun;
  return {
      {"run", "run", &R::run},
      {"started_at", "started", &R::started_at},
      {"device", "device", &R::device},
      {"family", "family", &R::family},
      {"problems", "problems", &R::problems},
      {"ranked", "ranked", &R::ranked},
      {"failed", "failed", &R::failed},
      {"complete", "complete", &R::complete},
  };
}

namespace {

struct ImportOptions {
  std::vector<std::filesystem::path> files;
  std::optional<ExportFormat> from;  ///< absent: detected for each file
  KernelOptions kernels;             ///< families that another program's settings may belong to
  // Facts that another program's file lacks.
  ProblemOptions problems;
  std::optional<Arch> arch;
  std::optional<std::string> gpu;
  std::optional<std::filesystem::path> db_file;
  OutputOptions output;
};

constexpr std::size_t kMostTuningFileBytes = std::size_t{1} << 30;

[[noreturn]] void fail_unsaid(const std::string& what, const std::string& origin,
                              const std::string& remedy) {
  throw Error(ExitCode::usage, "fatune did not write it, and it does not say " + what, origin,
              remedy);
}

Problem problem_for_file(const ProblemOptions& options, const std::string& origin) {
  if (options.seq_lens.empty() && !packed_seq_len(options)) {
    fail_unsaid("which attention problem its times are for", origin,
                "name it, e.g. --seq 4096 --dhead 128 --dtype bf16 --causal");
  }
  const std::vector<Problem> problems = named_problems(options);
  if (problems.size() != 1) {
    throw Error(ExitCode::usage, "these options name several problems", "--seq, --dhead, --dtype",
                "a file is for one problem: import each file with its own");
  }
  return problems.front();
}

DeviceLimits device_for_file(const ImportOptions& options, const KernelSet& kernels,
                             const std::string& device_name, const std::string& origin) {
  if (!options.arch) {
    fail_unsaid("which architecture its GPU has", origin, "name it, e.g. --arch sm_90");
  }
  DeviceLimits device =
      load_device_limits(kernels.tree, arch_meant(options.arch, kernels.families.all()));
  const std::string name = options.gpu.value_or(device_name);
  if (name.empty()) {
    fail_unsaid("which GPU it is for", origin, "name it, e.g. --gpu 'NVIDIA H200'");
  }
  device.name = name;
  return device;
}

/// Whether the options describe another program's file.
bool describe_foreign(const ImportOptions& options) {
  const ProblemOptions& problems = options.problems;
  return !problems.seq_lens.empty() || !problems.d_heads.empty() || !problems.dtypes.empty() ||
         problems.causal || problems.batch || problems.heads || !problems.details.empty() ||
         options.arch || options.gpu;
}

/// Reads files one by one. Parts of runs are joined when all files are read.
class FileReader {
 public:
  explicit FileReader(const ImportOptions& options)
      : options_(options), kernels_(choose_families(options.kernels)) {}

  void read(const std::filesystem::path& path) {
    const std::string origin = path.string();
    const TuningResults results = read_tuning_file(read_disk_file(path, kMostTuningFileBytes),
                                                   origin, options_.from, kernels_.tree);
    if (results.records.is_null()) {
      foreign_.push_back(foreign(results, origin));
    } else {
      parts_.push_back(read_part(JsonNode(results.records, origin + ": fatune")));
      check_settings(results, parts_.back(), origin);
    }
  }

  /// Returns the runs that were read, those of fatune first. Throws Error(usage) if the options
  /// describe another program's file and there is none.
  [[nodiscard]] std::vector<RunReport> finish() {
    if (foreign_.empty() && describe_foreign(options_)) {
      throw Error(ExitCode::usage,
                  "fatune wrote the files, and they name problem and GPU themselves",
                  "--seq, --arch, --gpu", "leave these options out");
    }
    std::vector<RunReport> runs = join_parts(std::move(parts_));
    std::ranges::move(foreign_, std::back_inserter(runs));
    return runs;
  }

 private:
  [[nodiscard]] RunReport foreign(const TuningResults& results, const std::string& origin) const {
    const ForeignFile file{origin, problem_for_file(options_.problems, origin),
                           device_for_file(options_, kernels_, results.device_name, origin),
                           options_.output.command_line};
    return foreign_run(results, file, kernels_.families);
  }

  const ImportOptions& options_;
  KernelSet kernels_;
  std::vector<RunPart> parts_;
  std::vector<RunReport> foreign_;
};

ImportedRun imported_run(std::int64_t number, const RunReport& run) {
  ImportedRun imported{.run = number,
                       .started_at = run.started_at,
                       .device = run.device.name,
                       .family = run.family,
                       .problems = run.problems.size(),
                       .complete = run.complete};
  for (const ProblemReport& problem : run.problems) {
    imported.ranked += problem.ranking.size();
    imported.failed += count_failed(problem);
  }
  return imported;
}

/// Stores the results in files of auto-tuners as runs: either all of them or none.
ExitCode import_results(const ImportOptions& options) {
  FileReader reader(options);
  std::ranges::for_each(options.files, [&](const auto& path) { reader.read(path); });
  const std::vector<RunReport> reports = reader.finish();
  Database database = open_store(store_path(options.db_file), Database::Mode::create);
  const std::vector<std::int64_t> numbers = store_runs(database, reports);
  const auto runs = mapped(indices_of(numbers),
                           [&](std::size_t i) { return imported_run(numbers[i], reports[i]); });
  print_document(rows_document("import", "runs", imported_run_fields(), runs), options.output);
  return ExitCode::ok;
}

}  // namespace

void add_import_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "import", "Store results in auto-tuners' common formats as runs", import_results);
  add_paths(sub, "FILE", "FILE", "T4 results, or cache files of Kernel Tuner", options.files)
      ->required();
  add_value(sub, "--from", import_format_words(), "default: recognised from each file's members",
            options.from, parse_import_format)
      ->group(option_group::kProblem);
  add_db_option(sub, options.db_file);
  add_problem_options(sub, options.problems, "none; one must be named");
  add_arch_option(sub, options.arch);
  add_value(sub, "--gpu", "NAME", "product name of the GPU (default: as the file says)",
            options.gpu)
      ->group(option_group::kDevice);
  add_kernel_options(sub, options.kernels, SpaceOption::no, FamilyOption::several);
  add_output_options(sub, options.output);
  sub.footer(
      R"(Files that 'fatune export --to t4' or '--to kernel-tuner-cache' wrote are restored whole; those of one run,
named together, become one run. Files of other programs say neither which problem they are for nor
the GPU's architecture: name both. Their settings must be configurations of a kernel family
(docs/export.md).

Examples:
  fatune import last.*.json
  fatune import cache.json --seq 4096 --dhead 128 --dtype fp16 --arch sm_90
  fatune import results.json --seq 4096 --dhead 128 --arch sm_80 \
    --gpu 'NVIDIA A100-SXM4-80GB')");
}

}  // namespace fatune
