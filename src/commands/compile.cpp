#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/path_option.hpp"
#include "cli/subcommands.hpp"
#include "commands/compile_command.hpp"

namespace fatune {
namespace {

void add_written_files(CLI::App& app, CompileOptions& options) {
  const OptionScope scope(app, option_group::kOutput);
  add_path_option(app, "--out", "DIR", "folder for the .cubin (and .ptx) files", options.out_dir);
  app.add_flag("--ptx", options.ptx, "write PTX too")->needs("--out");
  app.add_flag("--strict", options.strict, "exit with 6 if a configuration did not compile");
}

}  // namespace

void add_compile_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "compile", "Compile without running: registers, spills, shared memory, blocks per SM",
      compile_offline);
  options.kernels.kernels_variable = all.kernels_variable;
  add_kernel_options(sub, options.kernels, SpaceOption::yes);
  add_configs_option(
      sub, options.configs,
      "configuration instead of a space, in short form or as a kernel name; repeatable")
      ->excludes("--space");
  add_problem_options(sub, options.problems, kCompiledSeqLen);
  add_arch_option(sub, options.arch);
  add_compile_settings(sub, options.compile);
  add_written_files(sub, options);
  add_output_options(sub, options.output);
  sub.footer(
      R"(The default architecture is sm_90a. The remainder of the sequence length in the last tile is compiled in.
--out names a file after the family, the configuration, the compiled-in constants of problem and GPU
(those that are not 0) and the architecture:
  flash_sm80_FP16_..._tiles.causal.min_blocks-2.row_stride-2048.sm_80.cubin
Examples:
  fatune compile --space tune --arch sm_80
  fatune compile --space all --arch sm_90a --format json
  fatune compile --arch sm_86 --out kernels_out --ptx \
    --config "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles")");
}

}  // namespace fatune
