#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/subcommands.hpp"
#include "cli/text_option.hpp"
#include "commands/sass/sass_command.hpp"
#include "commands/sass/sass_options.hpp"
#include "commands/sass/sass_why_command.hpp"

namespace fatune {
namespace {

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

void add_why_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "why", "Which parameter changes which instructions, and which correlate with the time",
      sass_why);
  options.kernels.kernels_variable = all.kernels_variable;
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

}  // namespace

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
  add_why_command(inner);
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
