#include <memory>

#include "app/commands.hpp"
#include "cli/option_groups.hpp"
#include "cli/sass_options.hpp"
#include "cli/subcommands.hpp"
#include "cli/text_option.hpp"

namespace fatune {
namespace {

void add_side(CLI::App& app, const SharedSassOptions& options, const char* name, const char* doc) {
  app.add_option_function<std::string>(
         name,
         [options](const std::string& text) {
           options->sources.push_back({text, CodeSource::Kind::either, {}});
         },
         doc)
      ->required();
}

using Work = ExitCode (*)(const SassOptions&);

/// A command on the code that --config or --cubin names.
void run_on_source(CLI::App& sub, const SharedSassOptions& options, Command& command, Work work) {
  sub.callback([options, &command, work] {
    command = [options, work] {
      check_source(*options);
      return work(*options);
    };
  });
}

SharedSassOptions new_options(const CommandDefaults& defaults) {
  auto options = std::make_shared<SassOptions>();
  options->output = defaults.output;
  return options;
}

void add_text_command(CLI::App& parent, const CommandDefaults& defaults, Command& command,
                      const char* name, const char* doc, const char* footer, Work work) {
  const SharedSassOptions options = new_options(defaults);
  CLI::App* sub = parent.add_subcommand(name, doc);
  sub->footer(footer);
  add_compile_options(*sub, *options);
  add_code_options(*sub, options);
  run_on_source(*sub, options, command, work);
}

void add_graph_command(CLI::App& parent, const CommandDefaults& defaults, Command& command) {
  const SharedSassOptions options = new_options(defaults);
  CLI::App* sub = parent.add_subcommand("cfg", "The control-flow graph, drawn or for Graphviz");
  add_compile_options(*sub, *options);
  add_code_options(*sub, options);
  add_text_option(*sub, "--format", "dot|svg",
                  "Graphviz' language, or what its program dot draws of it",
                  [options](const std::string& text) { options->svg = text == "svg"; })
      ->check(CLI::IsMember({"dot", "svg"}))
      ->default_str("dot");
  sub->footer(R"(Examples:
  fatune sass cfg --run last > winner.dot
  fatune sass cfg --cubin a.out --arch sm_80 --format svg > graph.svg)");
  run_on_source(*sub, options, command, sass_graph);
}

void add_diff_command(CLI::App& parent, const CommandDefaults& defaults, Command& command) {
  const SharedSassOptions options = new_options(defaults);
  CLI::App* sub = parent.add_subcommand("diff", "What changes from one kernel's code to another's");
  add_side(*sub, options, "A", "configuration, or cubin or listing file, or artifact:KEY");
  add_side(*sub, options, "B", "the same, to compare with it");
  add_compile_options(*sub, *options);
  add_function_option(*sub, *options);
  sub->add_flag("--opcodes", options->opcodes, "by opcode instead of class");
  sub->add_flag("--listing", options->listing,
                "the code itself, aligned; registers and labels renamed, addresses left out");
  add_output_options(*sub, options->output);
  sub->footer(R"(Examples:
  fatune sass diff before.cubin after.cubin --format md
  fatune sass diff before.cubin after.cubin --listing
  fatune sass diff --arch sm_80 --opcodes \
    "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+opt_softmax" \
    "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax")");
  sub->callback([options, &command] { command = [options] { return sass_diff(*options); }; });
}

void add_why_command(CLI::App& parent, const CommandDefaults& defaults, Command& command) {
  auto options = std::make_shared<SassWhyOptions>();
  options->output = defaults.output;
  options->kernels.kernels_variable = defaults.kernels_variable;
  CLI::App* sub = parent.add_subcommand(
      "why", "Which parameter moves which instructions, and which go with the time");
  add_kernel_options(*sub, options->kernels, SpaceOption::yes);
  add_problem_options(*sub, options->problems, kCompiledSeqLen);
  add_arch_option(*sub, options->arch);
  add_text_option(*sub, "--run", "N|last",
                  "the configurations, problems and times of a stored run instead of a space",
                  [options](const std::string& text) {
                    options->with_run = true;
                    options->run = read_run(text);
                  })
      ->excludes("--space")
      ->excludes("--arch");
  add_db_option(*sub, options->db_file);
  add_jobs_option(*sub, options->compile);
  add_cache_options(*sub, options->compile);
  add_output_options(*sub, options->output);
  add_top_option(*sub, options->output);
  sub->footer(R"(Examples:
  fatune sass why --space tune --arch sm_90a
  fatune sass why --run last)");
  sub->callback([options, &command] { command = [options] { return sass_why(*options); }; });
}

}  // namespace

void add_sass_command(CLI::App& app, const CommandDefaults& defaults, Command& command) {
  const SharedSassOptions options = new_options(defaults);
  CLI::App* sub = app.add_subcommand(
      "sass", "Look into the machine code: what it is made of, its main loop, why one is faster");
  sub->require_subcommand(0, 1);
  add_compile_options(*sub, *options);
  add_code_options(*sub, options);
  sub->add_flag("--opcodes", options->opcodes, "by opcode instead of class");
  add_output_options(*sub, options->output);
  add_diff_command(*sub, defaults, command);
  add_graph_command(*sub, defaults, command);
  add_text_command(*sub, defaults, command, "clean",
                   "The code without addresses, for an editor's compare", R"(Examples:
  fatune sass clean --cubin kernel.cubin > kernel.sass
  fatune sass clean --run last > winner.sass
  fatune sass clean --run last --rank 2 > second.sass)",
                   sass_clean);
  add_sass_map_command(*sub, defaults, command);
  add_why_command(*sub, defaults, command);
  sub->footer(R"(Needs nvdisasm (docs/sass.md). The default architecture is sm_90.
Examples:
  fatune sass --arch sm_80 \
    --config "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+opt_softmax"
  fatune sass --cubin kernel.cubin --opcodes
  fatune sass diff before.cubin after.cubin --format md
  fatune sass cfg --cubin a.out --arch sm_80 --format svg > graph.svg
  fatune sass --run last --rank 2
  fatune sass map --arch sm_80 \
    --config "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+opt_softmax" \
    --annotate
  fatune sass why --space tune --arch sm_90a
  fatune sass why --run last)");
  sub->callback([sub, options, &command] {
    if (sub->get_subcommands().empty()) {
      command = [options] {
        check_source(*options);
        return sass(*options);
      };
    }
  });
}

}  // namespace fatune
