#include <limits>
#include <memory>

#include "app/commands.hpp"
#include "cli/numbers.hpp"
#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"
#include "cli/text_option.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

using Options = std::shared_ptr<SassOptions>;
using Kind = CodeSource::Kind;

/// How a configuration becomes machine code, and which function is looked at.
void add_code_options(CLI::App& app, SassOptions& options) {
  add_kernel_options(app, options.kernels, SpaceOption::no);
  add_problem_options(app, options.problems);
  add_arch_option(app, options.arch);
  add_cache_options(app, options.compile);
  app.add_option("--function", options.function, "the function of a file that has several")
      ->type_name("NAME");
}

void add_source_options(CLI::App& app, const Options& options) {
  auto* config =
      add_text_option(app, "--config", "CONFIG", "configuration, in short form or as a kernel name",
                      [options](const std::string& text) {
                        options->sources.push_back({text, Kind::config});
                      });
  add_text_option(app, "--cubin", "FILE", "cubin, or what 'nvdisasm -c' printed of one",
                  [options](const std::string& text) {
                    options->sources.push_back({text, Kind::file});
                  })
      ->excludes(config);
}

void add_side(CLI::App& app, const Options& options, const char* name, const char* doc) {
  app.add_option_function<std::string>(
         name,
         [options](const std::string& text) {
           options->sources.push_back({text, Kind::either});
         },
         doc)
      ->required();
}

void check_source(const SassOptions& options) {
  if (options.sources.empty()) {
    throw Error(ExitCode::usage, "whose machine code?", {}, "name it with --config or --cubin");
  }
}

using Work = ExitCode (*)(const SassOptions&);

/// A command on the code that --config or --cubin names.
void run_on_source(CLI::App& sub, const Options& options, Command& command, Work work) {
  sub.callback([options, &command, work] {
    command = [options, work] {
      check_source(*options);
      return work(*options);
    };
  });
}

Options new_options(const CommandDefaults& defaults) {
  auto options = std::make_shared<SassOptions>();
  options->output = defaults.output;
  return options;
}

void add_text_command(CLI::App& parent, const CommandDefaults& defaults, Command& command,
                      const char* name, const char* doc, Work work) {
  const Options options = new_options(defaults);
  CLI::App* sub = parent.add_subcommand(name, doc);
  add_source_options(*sub, options);
  add_code_options(*sub, *options);
  run_on_source(*sub, options, command, work);
}

void add_diff_command(CLI::App& parent, const CommandDefaults& defaults, Command& command) {
  const Options options = new_options(defaults);
  CLI::App* sub = parent.add_subcommand("diff", "What changes from one kernel's code to another's");
  add_side(*sub, options, "A", "configuration, or cubin or listing file");
  add_side(*sub, options, "B", "the same, to compare with it");
  add_code_options(*sub, *options);
  sub->add_flag("--opcodes", options->opcodes, "by opcode instead of class");
  sub->add_flag("--listing", options->listing,
                "the code itself, aligned; registers and labels renamed, addresses left out");
  add_output_options(*sub, options->output);
  sub->callback([options, &command] { command = [options] { return sass_diff(*options); }; });
}

void read_run(const std::string& text, SassWhyOptions& options) {
  options.with_run = true;
  if (text != "last") {
    options.run = parse_integer(text, "--run", 1, std::numeric_limits<std::int64_t>::max());
  }
}

void add_why_command(CLI::App& parent, const CommandDefaults& defaults, Command& command) {
  auto options = std::make_shared<SassWhyOptions>();
  options->output = defaults.output;
  options->kernels.kernels_variable = defaults.kernels_variable;
  CLI::App* sub = parent.add_subcommand(
      "why", "Which parameter moves which instructions, and which go with the time");
  add_kernel_options(*sub, options->kernels, SpaceOption::yes);
  add_problem_options(*sub, options->problems);
  add_arch_option(*sub, options->arch);
  add_text_option(*sub, "--run", "N|last",
                  "the configurations, problems and times of a stored run instead of a space",
                  [options](const std::string& text) { read_run(text, *options); })
      ->excludes("--space")
      ->excludes("--arch");
  add_db_option(*sub, options->db_file);
  add_jobs_option(*sub, options->compile);
  add_cache_options(*sub, options->compile);
  add_output_options(*sub, options->output);
  add_top_option(*sub, options->output);
  sub->callback([options, &command] { command = [options] { return sass_why(*options); }; });
}

}  // namespace

void add_sass_command(CLI::App& app, const CommandDefaults& defaults, Command& command) {
  const Options options = new_options(defaults);
  CLI::App* sub = app.add_subcommand(
      "sass", "Look into the machine code: what it is made of, its main loop, why one is faster");
  sub->require_subcommand(0, 1);
  add_source_options(*sub, options);
  add_code_options(*sub, *options);
  sub->add_flag("--opcodes", options->opcodes, "by opcode instead of class");
  add_output_options(*sub, options->output);
  add_diff_command(*sub, defaults, command);
  add_text_command(*sub, defaults, command, "cfg", "The control-flow graph, for Graphviz",
                   sass_graph);
  add_text_command(*sub, defaults, command, "clean",
                   "The code without addresses, for an editor's compare", sass_clean);
  add_why_command(*sub, defaults, command);
  sub->footer(R"(Needs nvdisasm (docs/sass.md). The default architecture is sm_90.
Examples:
  fatune sass --arch sm_80 \
    --config "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+opt_softmax"
  fatune sass --cubin kernel.cubin --opcodes
  fatune sass diff before.cubin after.cubin --format md
  fatune sass cfg --cubin kernel.cubin
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
