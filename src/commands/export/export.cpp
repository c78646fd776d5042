#include <fstream>

#include <fmt/format.h>

#include "base/descriptor.hpp"
#include "base/ranges.hpp"
#include "base/sha256.hpp"
#include "choose/library.hpp"
#include "choose/tuned_file.hpp"
#include "choose/tuned_table.hpp"
#include "cli/subcommands.hpp"
#include "commands/row_reports.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/compiling.hpp"
#include "engine/session.hpp"
#include "gpu/compiler.hpp"
#include "model/kv_pages.hpp"
#include "model/output_format.hpp"
#include "model/report.hpp"
#include "model/statistics.hpp"
#include "plan/config_text.hpp"
#include "plan/family.hpp"
#include "plan/planner.hpp"
#include "plan/scope.hpp"
#include "print/document/document.hpp"
#include "print/export_report.hpp"
#include "print/files.hpp"
#include "race/ranking.hpp"
#include "store/run_parts.hpp"
#include "store/study_inputs.hpp"
#include "store/tuning_file.hpp"

namespace fatune {

/// A file that was written for another auto-tuner: the results of one kernel on one problem.
struct ExportedFile {
  std::string file;
  std::string device;
  std::string problem;  ///< describe() of it
  std::string kernel;
  std::size_t settings = 0;
  std::size_t timed = 0;  ///< how many of them have a time
};

Fields<ExportedFile> exported_file_fields() {
  using F = ExportedFile;
  return {
      {"file", "file", &F::file},
      {"device", "device", &F::device},
      {"problem", "problem", &F::problem},
      {"kernel", "kernel", &F::kernel},
      {"settings", "settings", &F::settings},
      {"timed", "timed", &F::timed},
  };
}

namespace {

struct ExportOptions {
  TunedOptions tuned;
  KernelOptions kernels;
  OutputOptions output;
  CompileSettings compile;  ///< how a library's kernels are compiled
  ExportFormat to = ExportFormat::json;
  /// The file of the JSON table, the folder of a library, or the name (or the beginning of the
  /// names) of files for other auto-tuners.
  std::optional<std::filesystem::path> out_file;
  std::optional<double> cover_percent;  ///< restricts the table to the smallest cover within this
  std::optional<std::int64_t> max_configs;  ///< restricts it to so many configurations
  LibraryFeatures features;                 ///< of a library
};

Measured measured(const TunedTime& time, const std::string& origin) {
  Measured measured{timing_of_median(time.time_us), {}};
  measured.verification.method = time.verified.empty() ? "" : "as in " + origin;
  return measured;
}

Result tuned_result(const TunedTime& time, const Family& family, const std::string& origin) {
  Result result;
  result.config = time.config;
  result.short_form = time.short_form;
  result.kernel_name = kernel_name(family, time.config);
  result.parameters = named_values(family, time.config);
  result.outcome = measured(time, origin);
  result.tie_group = time.tie_group;
  return result;
}

ProblemReport tuned_report(const TunedProblem& row, const FamilySet& families,
                           const std::string& origin) {
  ProblemReport report;
  report.problem = row.problem;
  for (const TunedTime& time : row.times) {
    report.ranking.push_back(tuned_result(time, families.of(time.config), origin));
    report.ranking.back().rank = static_cast<int>(report.ranking.size());
  }
  rank_results(report.ranking, std::nullopt);
  return report;
}

RunReport header_of(const TunedOrigin& origin, const DeviceLimits& device,
                    const FamilySet& families) {
  RunReport run;
  run.started_at = origin.started_at;
  run.measured = true;
  run.complete = origin.complete;
  run.gpus = 1;
  run.family = families.names();
  run.device = device;
  run.toolchain = {origin.fatune_version, origin.nvrtc_version, {}, origin.driver};
  run.imported_from = origin.name;
  return run;
}

/// Adds the source hashes of the row's families whose times are known to be of the sources at hand.
void add_sources(const TunedProblem& row, const SourceHashes& hashes, SourceHashes& sources) {
  for (const TunedTime& time : row.times) {
    if (time.sources_recorded) {
      sources[time.config.family] = hashes.at(time.config.family);
    }
  }
}

/// Returns the rows of a table as runs, one for each GPU and origin. They have only what the table
/// knows: no samples, no failures, and the name of each origin.
std::vector<RunReport> tuned_runs(const TunedTable& table, const FamilySet& families) {
  const SourceHashes hashes = source_hashes(families);
  std::map<std::pair<std::size_t, GpuModel>, RunReport> runs;
  for (const TunedProblem& row : table.problems) {
    const TunedOrigin& origin = table.origins[row.origin];
    RunReport& run =
        runs.try_emplace({row.origin, row.gpu}, header_of(origin, table.gpus.at(row.gpu), families))
            .first->second;
    add_sources(row, hashes, run.source_hashes);
    run.problems.push_back(tuned_report(row, families, origin.name));
  }
  return mapped(runs, [](const auto& one) { return one.second; });
}

namespace fs = std::filesystem;

void check_options(const ExportOptions& options) {
  const std::string format(export_format_name(options.to));
  if (!options.out_file) {
    throw Error(ExitCode::usage, "--to " + format + " writes files, and none is named", "--out",
                "name it: --out FILE");
  }
  if (options.cover_percent || options.max_configs) {
    const char* const option = options.cover_percent ? "--cover" : "--max-configs";
    throw Error(ExitCode::usage, fmt::format("{} makes a table of its own, not {}", option, format),
                option, "leave out one of the two");
  }
}

/// Returns the named runs. Stored runs are whole. Files, and what fatune ships, have only times.
std::vector<RunReport> runs_of(const ExportOptions& options) {
  std::vector<RunReport> runs;
  for (const auto& run : options.tuned.runs) {
    runs.push_back(stored_report(options.tuned.db_file, run));
    if (!runs.back().measured) {
      throw Error(ExitCode::bad_file, "the run's times are estimates", "--run",
                  "'fatune history' lists the runs");
    }
  }
  if (runs.empty() || !options.tuned.best_files.empty()) {
    const KernelSet kernels = choose_families(options.kernels);
    const TunedTable table =
        load_tuned({options.tuned.best_files, {}, options.tuned.db_file}, kernels.families);
    std::ranges::move(tuned_runs(table, kernels.families), std::back_inserter(runs));
  }
  return runs;
}

std::vector<RunPart> all_parts(const std::vector<RunReport>& runs) {
  std::vector<RunPart> parts;
  for (const RunReport& run : runs) {
    std::ranges::move(parts_of(run), std::back_inserter(parts));
  }
  if (parts.empty()) {
    throw Error(ExitCode::nothing_ranked, "the run has no result", "--run",
                "'fatune history' lists the runs with their outcomes");
  }
  return parts;
}

std::string part_name(const RunPart& part) {
  const ProblemReport& report = part.run.problems.front();
  const std::string repetition = report.run == 1 ? "" : fmt::format(".run{}", report.run);
  return fmt::format("{}.{}.{}{}", file_name_part(part.run.device.name),
                     file_name_part(report.problem), part.family, repetition);
}

/// Returns "out.nvidia-h200.b1_s256_h1_d128_FP16.flash_sm80.json" for "out.json". A single file
/// keeps the given name. Names that occur twice get a number.
std::vector<fs::path> file_names(const fs::path& out, const std::vector<RunPart>& parts) {
  if (parts.size() == 1) {
    return {out};
  }
  std::vector<fs::path> names;
  std::set<fs::path> taken;
  for (const RunPart& part : parts) {
    const std::string stem = out.stem().string() + "." + part_name(part);
    const std::string ending = out.extension().string();
    fs::path name = out.parent_path() / (stem + ending);
    for (int number = 2; !taken.insert(name).second; ++number) {
      name = out.parent_path() / fmt::format("{}.{}{}", stem, number, ending);
    }
    names.push_back(std::move(name));
  }
  return names;
}

ExportedFile write_part(const RunPart& part, const fs::path& name, ExportFormat format) {
  const TuningResults results = tuning_results(part);
  write_output_file(name, tuning_file_text(format, results));
  const auto timed = std::ranges::count_if(
      results.settings, [](const TunedSetting& setting) { return setting.time_ms.has_value(); });
  return {name.string(),       part.run.device.name,    describe(part.run.problems.front().problem),
          results.kernel_name, results.settings.size(), static_cast<std::size_t>(timed)};
}

/// Writes what the options name as files of another auto-tuner, one for each kernel family and
/// problem of a run, and prints a list of them. A single file has the name that the options give.
/// Throws Error(usage) without a name, and with a cover.
ExitCode export_files(const ExportOptions& options) {
  check_options(options);
  const std::vector<RunPart> parts = all_parts(runs_of(options));
  const std::vector<fs::path> names = file_names(*options.out_file, parts);
  std::ranges::for_each(names, check_output_file);
  const auto files = mapped(
      indices_of(parts), [&](std::size_t i) { return write_part(parts[i], names[i], options.to); });
  print_document(rows_document("export_files", "files", exported_file_fields(), files),
                 options.output);
  return ExitCode::ok;
}

/// Machine code by its hash, so that equal code is stored once.
class Codes {
 public:
  std::size_t add(const std::shared_ptr<const CompileResult>& result, Arch arch) {
    const std::shared_ptr<const Artifact> artifact(result, &std::get<Artifact>(*result));
    const std::string hash = sha256_hex({artifact->cubin.data(), artifact->cubin.size()});
    const auto [known, is_new] = indices_.try_emplace(hash, codes_.size());
    if (is_new) {
      codes_.push_back({artifact, hash, arch});
    }
    return known->second;
  }
  [[nodiscard]] std::vector<LibraryCode> take() && { return std::move(codes_); }

 private:
  std::map<std::string, std::size_t> indices_;
  std::vector<LibraryCode> codes_;
};

void check_exportable(const Family& family) {
  if (needs_resident_blocks(family)) {
    throw Error(ExitCode::bad_file,
                fmt::format("launches of {} depend on {}, which exported libraries do not know",
                            family.name, kResidentBlocks),
                family.file, "choose other families with --family");
  }
}

void check_compiled(const CompileRequest& request,
                    const std::shared_ptr<const CompileResult>& result) {
  if (result == nullptr) {
    throw Error(ExitCode::interrupted, "interrupted: nothing was exported");
  }
  if (const std::string* log = failure_log(*result)) {
    throw Error(ExitCode::failed_outcomes, "a kernel of the library does not compile",
                request.label, *log);
  }
}

/// Builds a library of the table's configurations, with the machine code of kernel_cases(),
/// compiled in parallel. Throws Error(bad_file) for a family that libraries cannot have,
/// Error(failed_outcomes) if a kernel cannot be compiled, and Error(interrupted) after an
/// interrupt. The families and the table must outlive the library.
Library build_library(const TunedTable& table, const FamilySet& families,
                      const ExportOptions& options) {
  Library library{families, table, {}, {}};
  std::vector<CompileRequest> requests;
  const RuntimeTable runtime_table(table);
  const std::vector<const Config*>& configs = runtime_table.configs();
  const auto cases = kernel_cases(table, families, configs, options.features);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const Family& family = families.of(*configs[i]);
    check_exportable(family);
    LibraryConfig& made = library.configs.emplace_back(LibraryConfig{*configs[i], {}});
    for (const auto& [key, one] : cases[i]) {
      made.kernels.push_back({key, 0});
      requests.push_back(compile_request({family, *configs[i], one.problem, *one.device}));
    }
  }
  const auto keys = mapped(requests, artifact_key);
  print_note(options.output,
             fmt::format("compiling {} kernels of {} configurations",
                         std::set(keys.begin(), keys.end()).size(), library.configs.size()));
  const auto results = compile_all(requests, options.compile, open_cache(options.compile).get());
  Codes codes;
  std::size_t next = 0;
  for (LibraryConfig& config : library.configs) {
    for (BuiltKernel& kernel : config.kernels) {
      check_compiled(requests[next], results[next]);
      kernel.code = codes.add(results[next], requests[next].arch);
      ++next;
    }
  }
  library.codes = std::move(codes).take();
  return library;
}

/// Throws Error(usage) for features of a library where none is exported, and for a page size that
/// no problem has.
void check_features(const ExportOptions& options) {
  const bool has_some = options.features.packed || !options.features.page_sizes.empty();
  if (has_some && !is_library(options.to)) {
    throw Error(ExitCode::usage, "a table has no machine code", "--packed and --page-size",
                "export a library: --to cpp or --to torch");
  }
  for (const std::int64_t page_size : options.features.page_sizes) {
    check_pages({.batch = 1, .seq_len = 1, .heads = 1, .d_head = 1, .page_size = page_size});
  }
}

/// Where the C++ library is.
std::filesystem::path library_path(const ExportOptions& options) {
  const std::filesystem::path& folder = options.out_file.value();
  return options.to == ExportFormat::torch ? folder / kTorchLibraryFolder : folder;
}

std::filesystem::path table_path(const ExportOptions& options) {
  return library_path(options) / "table.json";
}

/// Whether the folder has one of the files that are the same in every library: an export to it has
/// begun, and may not have ended.
bool has_begun(const std::filesystem::path& library) {
  return std::ranges::any_of(constant_library_files(FileTree()), [&](const LibraryFile& file) {
    std::ifstream there(library / file.path, std::ios::binary);
    return there && std::string(std::istreambuf_iterator<char>(there), {}) == file.bytes;
  });
}

/// Throws Error(usage) if the folder has files but no library, so that unrelated files, such as
/// those of a folder `kernels`, are not overwritten.
void check_is_libraries(const ExportOptions& options) {
  const std::filesystem::path& folder = *options.out_file;
  std::error_code ignored;
  const bool has_files =
      std::filesystem::is_directory(folder, ignored) && !std::filesystem::is_empty(folder, ignored);
  if (has_files && !std::filesystem::exists(table_path(options), ignored) &&
      !has_begun(library_path(options))) {
    throw Error(ExitCode::usage, "the folder is not empty, and no library was exported to it",
                "--out " + folder.string(), "name another folder");
  }
}

/// Throws Error(usage) without a folder, or for one that has other files, and Error(io) if nothing
/// can be written there.
void check_library_folder(const ExportOptions& options) {
  if (!options.out_file) {
    throw Error(ExitCode::usage, "a library needs a folder",
                "--to " + std::string(export_format_name(options.to)), "name one with --out DIR");
  }
  check_is_libraries(options);
  check_output_file(*options.out_file / "README.md");
}

/// Compiles the kernels of the report's table, and writes the folder of a library, with its table
/// and the report. Throws as build_library() and write_output_file().
void write_library(const ExportOptions& options, const FamilySet& families,
                   const ExportReport& report) {
  const std::filesystem::path& folder = options.out_file.value();
  const Library library = build_library(report.table, families, options);
  std::set<std::filesystem::path> folders;
  const auto files_of = options.to == ExportFormat::torch ? torch_package_files : cpp_library_files;
  for (const LibraryFile& file : files_of(library, FileTree())) {
    write_output_file(folder / file.path, file.bytes);
    folders.insert((folder / file.path).parent_path());
  }
  std::ranges::for_each(folders, remove_stale_temporaries);  // a killed export leaves them
  const std::filesystem::path table = table_path(options);
  write_output_file(table, export_json(report));
  write_output_file(std::filesystem::path(table).replace_extension(".md"),
                    render(export_document(report), OutputFormat::markdown));
}

/// Restricts the table to a cover, if one is requested. A library without a cover has only the
/// winners and defaults.
TunedTable restricted(const TunedTable& table, const ExportOptions& options,
                      std::optional<Cover>& cover) {
  if (options.cover_percent || options.max_configs) {
    cover = options.cover_percent ? find_cover(table, *options.cover_percent)
                                  : find_few(table, static_cast<std::size_t>(*options.max_configs));
    return restricted_to(table, *cover);
  }
  return is_library(options.to) ? restricted_to(table, winners_and_defaults(table)) : table;
}

ExportReport report_of(const ExportOptions& options, const FamilySet& families) {
  std::optional<Cover> cover;
  TunedTable table = restricted(load_tuned(options.tuned, families), options, cover);
  ExportReport report = judge_tuned(std::move(table), families);
  report.cover = std::move(cover);
  return report;
}

ExitCode export_table(const ExportOptions& options) {
  if (options.out_file) {
    check_output_file(*options.out_file);
  }
  const KernelSet kernels = choose_families(options.kernels);
  const ExportReport report = report_of(options, kernels.families);
  if (options.out_file) {
    write_output_file(*options.out_file, export_json(report));
  }
  print_document(export_document(report), options.output);
  return ExitCode::ok;
}

ExitCode export_library(const ExportOptions& options) {
  check_library_folder(options);
  const KernelSet kernels = choose_families(options.kernels);
  const ExportReport report = report_of(options, kernels.families);
  write_library(options, kernels.families, report);
  print_document(export_document(report), options.output);
  return ExitCode::ok;
}

ExitCode export_tuned(const ExportOptions& options) {
  check_features(options);
  switch (options.to) {
    case ExportFormat::t4:
    case ExportFormat::kernel_tuner_cache:
      return export_files(options);
    case ExportFormat::cpp:
    case ExportFormat::torch:
      return export_library(options);
    case ExportFormat::json:
      break;
  }
  return export_table(options);
}

void add_table_options(CLI::App& app, ExportOptions& options) {
  const OptionScope scope(app, option_group::kOutput);
  add_value(app, "--to", export_format_words(), export_formats_text() + " (default: json)",
            options.to, parse_export_format);
  add_path_option(
      app, "--out", "FILE",
      "file for the table, or folder for a library; --to t4 and kernel-tuner-cache: one "
      "file for each kernel and problem, whose name begins like FILE",
      options.out_file);
  app.add_flag("--packed", options.features.packed,
               "of a library: it takes packed batches, too, and has machine code for them");
  add_value(app, "--page-size", "LIST",
            "of a library: it takes K and V in pages of these sizes, too, and has machine code for "
            "them",
            options.features.page_sizes, [](const std::string& text, const std::string& option) {
              return parse_integer_list(text, option, 1, kMostPageSize);
            });
}

void add_max_configs_option(CLI::App& app, std::optional<std::int64_t>& most) {
  constexpr std::int64_t kMost = 1'000'000;
  const OptionScope scope(app, option_group::kSearch);
  add_integer(
      app, "--max-configs",
      "at most N configurations, chosen so that all calls of the workload that was swept take "
      "the least time; without calls, each problem counts alike",
      1, kMost, most)
      ->excludes("--cover");
}

}  // namespace

void add_export_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "export", "Write tuned problems as one table, and say how good choices from it are",
      export_tuned);
  add_tuned_options(sub, options.tuned);
  add_table_options(sub, options);
  add_cover_option(sub,
                   "only the smallest set of configurations that has, for each tuned problem, one "
                   "within PERCENT of the winner",
                   options.cover_percent);
  add_max_configs_option(sub, options.max_configs);
  add_compile_settings(sub, options.compile);
  add_kernel_options(sub, options.kernels, SpaceOption::no, FamilyOption::several);
  add_output_options(sub, options.output);
  sub.footer(
      R"(Each tuned problem is left out in turn: the table says what would be chosen for it from the others,
and by how much that is slower than its winner (docs/export.md). --format json prints what --out writes.

Examples:
  fatune export
  fatune export --best results/best_configs.json --to json --out table.json
  fatune export --run last --cover 5 --out table.json
  fatune export --to cpp --cover 5 --out attention
  fatune export --best results/results.json --max-configs 4 --to cpp --out four
  fatune export --to torch --packed --page-size 16,64 --out package
  fatune export --run last --to t4 --out last.json
  fatune export --best h100.json --best h200.json --run last --out table.json)");
}

}  // namespace fatune
