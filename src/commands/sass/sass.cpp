#include "base/cuda_installation.hpp"
#include "base/descriptor.hpp"
#include "base/run_program.hpp"
#include "commands/sass/sass_code.hpp"
#include "commands/sass/sass_reports.hpp"
#include "print/files.hpp"

namespace fatune {
namespace {

using Kind = CodeSource::Kind;

constexpr std::int64_t kLastRank = 1000000;

CLI::Option* add_source(CLI::App& app, CodeOptions& options, const char* name, const char* type,
                        const char* doc, Kind kind) {
  return add_text_option(app, name, type, doc, [&options, kind](const std::string& text) {
    options.sources.push_back({text, kind, {}});
  });
}

void add_run_source(CLI::App& app, CodeOptions& options) {
  auto* run =
      add_text_option(app, "--run", "N|last", "a configuration of a stored run, by its rank",
                      [&options](const std::string& text) {
                        options.sources.push_back({text, Kind::run, parse_run(text, "--run")});
                      });
  add_integer(app, "--rank", "rank in that run; 1: the fastest", 1, kLastRank, options.rank)
      ->needs(run);
  run->excludes(app.get_option("--config"));
  run->excludes(app.get_option("--arch"));
  add_db_option(app, options.db_file);
}

struct SassOptions : CodeOptions {
  bool opcodes = false;
  bool listing = false;  ///< a comparison shows the code and not the counts
  bool svg = false;      ///< a graph is drawn
};

SassReport report_of(const SassCode& code) {
  return {code.source, code.facts, profile_function(code.listing, code.kernel())};
}

/// Returns the graph as SVG, drawn by Graphviz. Throws Error(bad_file) if that is not installed.
std::string drawn(const std::string& graph) {
  const std::string dot = needed_tool(
      find_tool("dot"), "dot, which draws the graph,", "--format svg",
      "run 'apt-get install graphviz', set its path in FATUNE_DOT, or use --format dot");
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch.path() / "graph.dot";
  write_output_file(file, graph);
  return run_program(dot, {"-Tsvg", file.string()}).out;
}

ExitCode sass(const SassOptions& options) {
  const SassCode code = load_code(options, named_source(options));
  print_document(sass_document(report_of(code), options.opcodes), options.output);
  return ExitCode::ok;
}

ExitCode sass_diff(const SassOptions& options) {
  const SassCode a = load_code(options, options.sources.at(0));
  const SassCode b = load_code(options, options.sources.at(1));
  if (options.listing) {
    print_text(print_listing_diff({a.source, normal_form(a.kernel())},
                                  {b.source, normal_form(b.kernel())}));
  } else {
    print_document(sass_diff_document(report_of(a), report_of(b), options.opcodes), options.output);
  }
  return ExitCode::ok;
}

ExitCode sass_graph(const SassOptions& options) {
  const std::string graph = graph_text(load_code(options, named_source(options)).kernel());
  print_text(options.svg ? drawn(graph) : graph);
  return ExitCode::ok;
}

ExitCode sass_clean(const SassOptions& options) {
  print_text(clean_text(load_code(options, named_source(options)).kernel()));
  return ExitCode::ok;
}

void add_function_option(CLI::App& app, CodeOptions& options) {
  const OptionScope scope(app, option_group::kKernels);
  app.add_option("--function", options.function, "the function of a file that has several")
      ->type_name("NAME");
}

/// Adds the options above, --cubin and --artifact, which choose the machine code, and --function.
void add_code_options(CLI::App& app, CodeOptions& options) {
  const OptionScope scope(app, option_group::kKernels);
  add_case_options(app, options);
  auto* file = add_text_option(
      app, "--cubin", "FILE", "cubin, a file that embeds cubins, or what 'nvdisasm -c' printed",
      [&options](const std::string& text) {
        options.sources.push_back({read_path(text, "--cubin").string(), Kind::file, {}});
      });
  auto* artifact =
      add_source(app, options, "--artifact", "KEY",
                 "artifact of the cubin cache whose key begins with KEY", Kind::artifact);
  file->excludes(artifact);
  for (const char* other : {"--config", "--run"}) {
    file->excludes(app.get_option(other));
    artifact->excludes(app.get_option(other));
  }
  add_function_option(app, options);
}

void add_side(CLI::App& app, CodeOptions& options, const char* name, const char* doc) {
  app.add_option_function<std::string>(
         name,
         [&options](const std::string& text) {
           options.sources.push_back({text, CodeSource::Kind::either, {}});
         },
         doc)
      ->type_name("CONFIG|FILE")
      ->required();
}

void add_opcodes_option(CLI::App& app, bool& opcodes) {
  app.add_flag("--opcodes", opcodes, "by opcode instead of class")->group(option_group::kOutput);
}

void add_clean_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "clean", "The code without addresses, for comparing in an editor", sass_clean);
  add_compile_options(sub, options);
  add_code_options(sub, options);
  sub.footer(R"(Examples:
  fatune sass clean --cubin kernel.cubin > kernel.sass
  fatune sass clean --run last > winner.sass
  fatune sass clean --run last --rank 2 > second.sass)");
}

void add_graph_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "cfg", "The control-flow graph, drawn or for Graphviz", sass_graph);
  add_compile_options(sub, options);
  add_code_options(sub, options);
  add_text_option(sub, "--format", "dot|svg",
                  "dot: Graphviz' language (default); svg: the picture that its program dot draws",
                  [&options = options](const std::string& text) { options.svg = text == "svg"; })
      ->check(CLI::IsMember({"dot", "svg"}).description(""))
      ->group(option_group::kOutput);
  sub.footer(R"(Examples:
  fatune sass cfg --run last > winner.dot
  fatune sass cfg --cubin a.out --arch sm_80 --format svg > graph.svg)");
}

void add_diff_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "diff", "What changes from one kernel's code to another's", sass_diff);
  add_side(sub, options, "A", "configuration, or cubin or listing file, or artifact:KEY");
  add_side(sub, options, "B", "the same, to compare with A");
  add_compile_options(sub, options);
  add_function_option(sub, options);
  add_opcodes_option(sub, options.opcodes);
  sub.add_flag("--listing", options.listing,
               "the code itself, aligned; registers and labels renamed, addresses left out")
      ->group(option_group::kOutput);
  add_output_options(sub, options.output);
  sub.footer(R"(Examples:
  fatune sass diff before.cubin after.cubin --format md
  fatune sass diff before.cubin after.cubin --listing
  fatune sass diff --arch sm_80 --opcodes \
    "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles" \
    "(FP16,128,64,64,4):async+eager+swizzled+load_4_4_2_tiles")");
}

}  // namespace

void add_compile_options(CLI::App& app, CodeOptions& options) {
  add_kernel_options(app, options.kernels, SpaceOption::no);
  add_problem_options(app, options.problems, kCompiledSeqLen);
  add_arch_option(app, options.arch);
  add_cache_options(app, options.compile);
}

void add_case_options(CLI::App& app, CodeOptions& options) {
  const OptionScope scope(app, option_group::kKernels);
  add_source(app, options, "--config", "CONFIG", "configuration, in short form or as a kernel name",
             Kind::config);
  add_run_source(app, options);
}

void add_sass_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "sass",
      "Look into the machine code: what it is made of, its main loop, why one is faster", sass);
  sub.require_subcommand(0, 1);
  add_compile_options(sub, options);
  add_code_options(sub, options);
  add_opcodes_option(sub, options.opcodes);
  add_output_options(sub, options.output);
  const Subcommands inner = within(all, sub);
  add_diff_command(inner);
  add_graph_command(inner);
  add_clean_command(inner);
  add_sass_map_command(inner);
  add_sass_why_command(inner);
  sub.footer(R"(Needs nvdisasm (docs/sass.md). The default architecture is sm_90a.
Examples:
  fatune sass --arch sm_80 \
    --config "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles"
  fatune sass --cubin kernel.cubin --opcodes
  fatune sass diff before.cubin after.cubin --format md
  fatune sass cfg --cubin a.out --arch sm_80 --format svg > graph.svg
  fatune sass --run last --rank 2
  fatune sass map --arch sm_80 \
    --config "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles" \
    --annotate
  fatune sass why --space tune --arch sm_90a
  fatune sass why --run last)");
}

}  // namespace fatune
