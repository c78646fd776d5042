#include <fmt/format.h>

#include "base/descriptor.hpp"
#include "base/ranges.hpp"
#include "base/source_line.hpp"
#include "base/text_parts.hpp"
#include "commands/sass/sass_code.hpp"
#include "commands/sass/sass_reports.hpp"
#include "emulator/ptx/source_places.hpp"
#include "engine/choice/plan_problems.hpp"
#include "engine/compiling.hpp"
#include "engine/interrupt.hpp"
#include "gpu/compiler.hpp"
#include "inspect/sass/line_map.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "store/study_inputs.hpp"

namespace fatune {
namespace {

/// A kernel's machine code with the lines that it was made from. Files have the names that #include
/// uses ("flash_sm80/softmax.cuh").
struct MappedCode {
  SassCode code;
  std::string ptx_text;
  PtxModule ptx;
  std::size_t ptx_function = 0;  ///< index of the kernel
  SourceLines files;
};

std::size_t ptx_function_of(const PtxModule& module, const std::string& name) {
  const auto& all = module.functions;
  const auto found = std::ranges::find(all, name, &PtxFunction::name);
  if (found == all.end()) {
    throw Error(ExitCode::internal, fmt::format("the PTX has no function '{}'", name));
  }
  return static_cast<std::size_t>(found - all.begin());
}

Artifact compile_with_lines(const SassCase& one, const CompileSettings& settings) {
  const auto cache = open_cache(settings);
  return artifact_of(compile(with_line_info(one.request()), cache.get(), true), one.name());
}

/// Compiles the configuration with line information. This is a separate artifact with the same
/// machine code. Throws as load_code().
MappedCode load_mapped_code(const CodeOptions& options, const CodeSource& source) {
  const SassCase one = sass_case(options, source);
  const std::string tool = nvdisasm();
  const Artifact artifact = compile_with_lines(one, options.compile);
  const ScratchFolder scratch;
  MappedCode mapped;
  mapped.code = {one.name(), artifact.facts, artifact.key,
                 disassemble(tool, artifact, scratch.path(), one.name(), LineInfo::with)};
  mapped.code.function = index_of(mapped.code.listing, artifact.lowered_name, one.name());
  mapped.ptx_text = artifact.ptx;
  mapped.ptx = parse_ptx(artifact.ptx, one.name());
  mapped.ptx_function = ptx_function_of(mapped.ptx, artifact.lowered_name);
  mapped.files = lines_of_files(*one.request().sources);
  use_include_names(mapped.files, mapped.code.listing.places);
  use_include_names(mapped.files, mapped.ptx.places);
  return mapped;
}

struct SassMapOptions : CodeOptions {
  std::optional<MapTarget> target;  ///< absent: all source lines
  std::int64_t depth = 0;           ///< steps of PTX that feed the target; 0: all
  bool annotate = false;            ///< print the source with counts
  bool ptx_text = false;            ///< print only the PTX
};

std::string text_of(const MappedCode& mapped, const SourceLine& line) {
  const auto file = mapped.files.find(line.file);
  const auto index = static_cast<std::size_t>(line.line - 1);
  const bool known = file != mapped.files.end() && index < file->second.size();
  return known ? std::string(trim(file->second[index])) : std::string();
}

std::vector<MapLineRow> line_rows(const MappedCode& mapped, const LineCounts& counts) {
  std::vector<MapLineRow> rows;
  for (const LineCount& count : counts.lines) {
    rows.push_back({count, text_of(mapped, count.at)});
  }
  return rows;
}

MapLineRow row_of(const MappedCode& mapped, const std::vector<MapLineRow>& rows,
                  const SourceLine& line) {
  const auto at = [](const MapLineRow& row) { return row.count.at; };
  if (const MapLineRow* const row = find_in(rows, line, at)) {
    return *row;
  }
  MapLineRow none;  // the line has PTX only: no machine code is left
  none.count.at = line;
  none.text = text_of(mapped, line);
  return none;
}

struct Name {
  std::string operator()(const SourceLine& line) const {
    return fmt::format("{}:{}", line.file, line.line);
  }
  std::string operator()(const PtxLine& line) const {
    return fmt::format("PTX line {}", line.line);
  }
  std::string operator()(const SassAddress& at) const {
    return fmt::format("SASS {:#06x}", at.address);
  }
};

MapSelection select(const MappedCode& mapped, const SassMapOptions& options,
                    const std::vector<MapLineRow>& rows) {
  const PtxFunction& ptx = mapped.ptx.functions.at(mapped.ptx_function);
  const SassFunction& sass = mapped.code.kernel();
  const std::vector<LoopPlace> places = loop_places(sass);
  const LineMap map = map_line({mapped.code.listing, sass, mapped.ptx, ptx}, *options.target,
                               static_cast<int>(options.depth));
  MapSelection selection{std::visit(Name(), *options.target), {}, {}, {}};
  for (const SourceLine& line : map.source) {
    selection.source.push_back(row_of(mapped, rows, line));
  }
  for (const SliceStep& step : map.ptx) {
    const PtxStatement& statement = ptx.statements[step.statement];
    selection.ptx.push_back(
        {statement.line, step.depth, statement.text, mapped.ptx.places.at(statement.place)});
  }
  for (const std::size_t i : map.sass) {
    const Instruction& one = sass.instructions[i];
    selection.sass.push_back({one.address, instruction_text(one), class_of(one), places[i],
                              one.ptx_line, mapped.code.listing.places.at(one.place)});
  }
  return selection;
}

ExitCode sass_map(const SassMapOptions& options) {
  const MappedCode mapped = load_mapped_code(options, named_source(options));
  if (options.ptx_text) {
    print_text(mapped.ptx_text);
    return ExitCode::ok;
  }
  SassMapReport report;
  report.code = {mapped.code.source, mapped.code.facts,
                 profile_function(mapped.code.listing, mapped.code.kernel())};
  const LineCounts counts = count_lines(mapped.code.listing, mapped.code.kernel());
  report.without_line = counts.without_line;
  report.lines = line_rows(mapped, counts);
  report.files = mapped.files;
  if (options.target) {
    report.selection = select(mapped, options, report.lines);
  }
  if (options.annotate) {
    print_text(annotated_source(report));
    return ExitCode::ok;
  }
  print_document(sass_map_document(report, rows_shown(options.output)), options.output);
  return ExitCode::ok;
}

constexpr std::int64_t kLastLine = std::numeric_limits<std::int64_t>::max();

/// Parses "softmax.cuh:40". Throws Error(usage) for a text without a file or a line.
MapTarget read_source_target(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    throw Error(ExitCode::usage, fmt::format("'{}' is not a line of a file", text), "--source",
                "write FILE:LINE, e.g. softmax.cuh:40");
  }
  return SourceLine{text.substr(0, colon),
                    parse_integer(text.substr(colon + 1), "--source", 1, kLastLine)};
}

/// Parses an address such as "0x22d0", as listings print it. The 0x is optional.
MapTarget read_sass_target(const std::string& text) {
  constexpr std::string_view kPrefix = "0x";
  std::string_view digits = text;
  digits.remove_prefix(digits.starts_with(kPrefix) ? kPrefix.size() : 0);
  const auto address = whole_number<std::uint64_t>(digits, 16);
  if (!address) {
    throw Error(ExitCode::usage, fmt::format("'{}' is not an address", text), "--sass",
                "write it in hexadecimal as 'fatune sass map --source' prints it, e.g. 0x22d0");
  }
  return SassAddress{*address};
}

constexpr std::int64_t kMostSteps = 1000000;
constexpr std::int64_t kDefaultSteps = 4;

void add_target_option(CLI::App& sub, SassMapOptions& options, const char* name, const char* type,
                       const char* doc, MapTarget (*read)(const std::string&)) {
  add_text_option(sub, name, type, doc,
                  [&options, read](const std::string& text) { options.target = read(text); });
}

void add_map_options(CLI::App& sub, SassMapOptions& options) {
  const OptionScope scope(sub, option_group::kOutput);
  add_target_option(sub, options, "--source", "FILE:LINE",
                    "a line of the source, e.g. softmax.cuh:40", read_source_target);
  add_target_option(sub, options, "--ptx", "LINE", "a line of the PTX",
                    [](const std::string& text) -> MapTarget {
                      return PtxLine{parse_integer(text, "--ptx", 1, kLastLine)};
                    });
  add_target_option(sub, options, "--sass", "ADDRESS", "a machine instruction, e.g. 0x22d0",
                    read_sass_target);
  options.depth = kDefaultSteps;
  add_integer(
      sub, "--depth",
      fmt::format("how many steps back to follow the PTX that feeds it; 0: all (default: {})",
                  kDefaultSteps),
      0, kMostSteps, options.depth);
  sub.add_flag("--annotate", options.annotate, "the whole source files, with counts in front");
  sub.add_flag("--ptx-text", options.ptx_text, "the PTX alone, whose line numbers --ptx takes");
  const std::vector<std::string> exclusive{"--source", "--ptx", "--sass", "--annotate",
                                           "--ptx-text"};
  for (const std::string& one : exclusive) {
    for (const std::string& other : exclusive) {
      if (one < other) {
        sub.get_option(one)->excludes(sub.get_option(other));
      }
    }
  }
}

struct SassWhyOptions : OfflineOptions {
  std::optional<std::filesystem::path> db_file;
  bool with_run = false;            ///< use a stored run instead of a space
  std::optional<std::int64_t> run;  ///< absent: the run that began last
};

struct CaseCounts {
  TimedCase what;
  WorkCounts counts;
};

std::vector<TimedCase> cases_of_space(const SassWhyOptions& options, const KernelSet& kernels,
                                      SassWhyReport& report) {
  const Family& family = kernels.family();
  const Space space = choose_space(kernels, options.kernels);
  report.space = space.key;
  const std::int64_t seq_len = first_seq_len(options.problems);
  return mapped(
      make_plan(family, space, binding_of(options.problems)).kept, [&](const Config& config) {
        return TimedCase{config, problem_for(family, config, options.problems, seq_len), {}, {}};
      });
}

/// Returns a measured time. An estimate has none: it is computed from instruction counts, so that
/// their correlation with it would say nothing about a GPU.
std::optional<double> measured_us(const Outcome& outcome) {
  return std::holds_alternative<Measured>(outcome) ? std::optional(ranked_us(outcome))
                                                   : std::nullopt;
}

/// Returns every ranked configuration of a run that is of these families, once for each problem.
std::vector<TimedCase> cases_of_run(const RunReport& run, const FamilySet& families) {
  std::vector<TimedCase> cases;
  for (const ProblemReport& problem : run.problems) {
    for (const Result& result : problem.ranking) {
      if (families.find(result.config.family) != nullptr) {
        cases.push_back(
            {result.config, problem.problem, measured_us(result.outcome), result.artifact_key});
      }
    }
  }
  return cases;
}

std::vector<CaseCounts> count_all(const FamilySet& families, const std::vector<TimedCase>& cases,
                                  const DeviceLimits& limits, const CompileSettings& settings,
                                  SassWhyReport& report) {
  const auto codes = compile_code(families, cases, limits, settings);
  std::vector<CaseCounts> counted;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto counts = codes[i]
                            ? work_counts(profile_function(codes[i]->listing, codes[i]->kernel()))
                            : std::nullopt;
    if (!counts) {
      report.left_out += InterruptWatch::interrupted() ? 0 : 1;  // an interrupt leaves code undone
      continue;
    }
    const std::string& of_run = cases[i].artifact_key;
    report.other_code += !of_run.empty() && of_run != codes[i]->artifact_key ? 1 : 0;
    counted.push_back({cases[i], *counts});
  }
  report.coverage = {counted.size(), cases.size(), !InterruptWatch::interrupted()};
  return counted;
}

/// Returns each configuration once, even if it was measured on several problems.
std::vector<WorkSample> distinct_samples(const FamilySet& families,
                                         const std::vector<CaseCounts>& all) {
  std::map<Config, WorkSample> samples;
  for (const CaseCounts& one : all) {
    samples.try_emplace(
        one.what.config,
        WorkSample{one.what.config, named_values(families.of(one.what.config), one.what.config),
                   one.counts});
  }
  return mapped(samples, [](const auto& one) { return one.second; });
}

/// Computes the correlations of each problem. Families are kept apart, because their instructions
/// do different work.
std::vector<WhyProblem> correlate(const std::vector<CaseCounts>& all, bool several_families,
                                  double confidence) {
  std::map<std::string, std::pair<std::vector<WorkCounts>, std::vector<double>>> problems;
  for (const CaseCounts& one : all) {
    if (one.what.time_us) {
      auto& [counts, times_us] =
          problems[describe(one.what.problem) +
                   (several_families ? ", " + one.what.config.family : std::string())];
      counts.push_back(one.counts);
      times_us.push_back(*one.what.time_us);
    }
  }
  return mapped(problems, [&](const auto& one) {
    const auto& [counts, times_us] = one.second;
    return WhyProblem{one.first, time_correlations(counts, times_us, confidence)};
  });
}

ExitCode sass_why(const SassWhyOptions& options) {
  std::optional<RunReport> run;
  if (options.with_run) {
    run = stored_report(options.db_file, options.run);
  }
  const KernelSet kernels =
      run ? choose_families_of(*run, options.kernels) : choose_kernels(options.kernels);
  const FamilySet& families = kernels.families;
  SassWhyReport report;
  report.family = families.names();
  report.run = options.run;
  std::vector<TimedCase> cases;
  DeviceLimits limits;
  if (run) {
    report.space = run->space;
    report.device = run->device.name;
    report.measured = run->measured;
    report.confidence = run->policy.confidence;
    limits = run->device;
    cases = cases_of_run(*run, families);
  } else {
    limits = offline_target(options.arch, kernels.tree, families.all()).limits;
    cases = cases_of_space(options, kernels, report);
  }
  report.target = arch_name(limits.arch);
  const InterruptWatch watch;
  const std::vector<CaseCounts> counted =
      count_all(families, cases, limits, options.compile, report);
  const std::vector<WorkSample> samples = distinct_samples(families, counted);
  for (const WorkSample& sample : samples) {
    report.samples.push_back(
        {short_form(families.of(sample.config), sample.config), sample.counts});
  }
  report.effects = parameter_effects(samples);
  report.problems = correlate(counted, families.several(), report.confidence);
  print_document(sass_why_document(report, rows_shown(options.output)), options.output);
  return !report.coverage.complete ? ExitCode::interrupted
         : report.samples.empty()  ? ExitCode::nothing_ranked
                                   : ExitCode::ok;
}

}  // namespace

void add_sass_map_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "map", "Which source line became which PTX and which machine code, and back", sass_map);
  add_compile_options(sub, options);
  add_case_options(sub, options);
  add_map_options(sub, options);
  add_output_options(sub, options.output);
  add_top_option(sub, options.output);
  sub.footer(R"(Examples:
  fatune sass map --run last --rank 1
  fatune sass map --run last --source softmax.cuh:40
  fatune sass map --arch sm_80 --annotate \
    --config "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles")");
}

void add_sass_why_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "why", "Which parameter changes which instructions, and which correlate with the time",
      sass_why);
  add_kernel_options(sub, options.kernels, SpaceOption::yes);
  add_problem_options(sub, options.problems, kCompiledSeqLen);
  add_arch_option(sub, options.arch);
  add_text_option(sub, "--run", "N|last",
                  "the configurations, problems and times of a stored run instead of a space",
                  [&options = options](const std::string& text) {
                    options.with_run = true;
                    options.run = parse_run(text, "--run");
                  })
      ->excludes("--space")
      ->excludes("--arch")
      ->group(option_group::kKernels);
  add_db_option(sub, options.db_file);
  add_compile_settings(sub, options.compile);
  add_output_options(sub, options.output);
  add_top_option(sub, options.output);
  sub.footer(R"(Examples:
  fatune sass why --space tune --arch sm_90a
  fatune sass why --run last)");
}

}  // namespace fatune
