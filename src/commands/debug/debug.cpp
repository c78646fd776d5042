#include <limits>
#include <string>

#include <fmt/format.h>

#include "app/choice/ragged_length.hpp"
#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/path_option.hpp"
#include "cli/subcommands.hpp"
#include "cli/text_option.hpp"
#include "commands/debug/debug_command.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kMostBlocks = 1024;
constexpr std::int64_t kMostDebuggedSeqLen = 65536;

std::string init_footer() {
  std::string text = "Kinds of input:\n";
  for (const InputKindText& kind : kInputKindTexts) {
    text += fmt::format("  {:<13} {}\n", kind.name, kind.doc);
  }
  return text;
}

void add_problem_of_debug(CLI::App& sub, DebugOptions& options) {
  const OptionScope scope(sub, option_group::kProblem);
  add_integer(sub, "--seq-blocks",
              fmt::format("sequence length in blocks of query rows (default: 4, and then {} rows, "
                          "full and causal)",
                          kRaggedSeqLen),
              1, kMostBlocks, options.seq_blocks);
  add_integer(sub, "--seq", "sequence length, in place of --seq-blocks", 1, kMostDebuggedSeqLen,
              options.seq_len)
      ->excludes("--seq-blocks");
  add_preset_option(sub, options.problems);
  add_causal_options(sub, options.problems);
  add_text_option(sub, "--init", "KIND", "how Q, K and V are filled: see below (default: normal)",
                  [&options](const std::string& text) { options.init = parse_input_kind(text); });
  add_integer(sub, "--seed", "seed of the random inputs (default: 1)", 0,
              std::numeric_limits<std::int64_t>::max(), options.seed);
}

}  // namespace

void add_debug_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "debug", "Find the first step at which a kernel goes wrong", debug);
  sub.add_option("--config", options.config,
                 "configuration, in short form or as a profiler prints the kernel")
      ->type_name("CONFIG")
      ->required()
      ->group(option_group::kKernels);
  add_problem_of_debug(sub, options);
  add_path_option(sub, "--out", "DIR",
                  "write every intermediate (.npy) and debug.json into this folder",
                  options.out_dir)
      ->group(option_group::kOutput);
  add_kernel_options(sub, options.kernels, SpaceOption::no);
  add_target_options(sub, options.target);
  add_cache_options(sub, options.compile);
  add_emulate_option(sub, options.emulate);
  add_output_options(sub, options.output);
  sub.footer(init_footer() + R"(
Exit code 6: something is wrong. Without a GPU the kernel's PTX is run on the CPU.

Examples:
  fatune debug --config "(FP16,128,64,64,4):async+load_2_2_2_tiles"
  fatune debug --init large_logits --seq 300 --causal --out wrong \
    --config "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles")");
}

}  // namespace fatune
