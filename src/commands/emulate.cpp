#include <limits>
#include <string>

#include <fmt/format.h>

#include "app/choice/ragged_length.hpp"
#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/subcommands.hpp"
#include "cli/text_option.hpp"
#include "commands/emulate_command.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

// The reference results take batch * heads * seq_len^2 * d_head steps on one core.
constexpr std::int64_t kMostEmulatedSeqLen = 4096;
constexpr std::int64_t kMostEmulatedHeads = 64;
constexpr std::int64_t kMostSchedules = 1000;
// More than one head, so that the row stride differs from the row length.
constexpr std::int64_t kDefaultHeads = 2;

EmulatedTiming parse_timing(const std::string& text) {
  if (text == "early") {
    return EmulatedTiming::early;
  }
  if (text == "late") {
    return EmulatedTiming::late;
  }
  if (text == "random") {
    return EmulatedTiming::random;
  }
  throw Error(ExitCode::usage, fmt::format("'{}' is not a timing", text), "--timing",
              "choose early, late or random");
}

void add_problem_of_emulate(CLI::App& sub, EmulateOptions& options) {
  const OptionScope scope(sub, option_group::kProblem);
  ProblemOptions& problems = options.problems;
  problems.batch = 1;
  problems.heads = kDefaultHeads;
  add_preset_option(sub, problems);
  add_integer(sub, "--seq",
              fmt::format("sequence length (default: 256, and {}, full and causal)", kRaggedSeqLen),
              1, kMostEmulatedSeqLen, options.seq_len);
  add_binding_options(sub, problems);
  add_causal_options(sub, problems);
  add_integer(sub, "--batch", "sequences (default: 1)", 1, kMostEmulatedHeads, *problems.batch);
  add_integer(sub, "--heads", "attention heads (default: 2)", 1, kMostEmulatedHeads,
              *problems.heads);
  add_detail_options(sub, problems, kMostEmulatedSeqLen);
}

void add_schedule_options(CLI::App& sub, EmulateOptions& options) {
  const OptionScope scope(sub, option_group::kMeasuring);
  add_integer(sub, "--schedules", "runs of each input, differently interleaved (default: 2)", 1,
              kMostSchedules, options.schedules);
  add_integer(sub, "--seed", "seed of inputs and schedules (default: 1)", 0,
              std::numeric_limits<std::int64_t>::max() - kMostSchedules, options.seed);
  add_text_option(sub, "--timing", "early|late|random",
                  "when asynchronous copies happen (default: once late, "
                  "then random)",
                  [&options](const std::string& text) { options.timing = parse_timing(text); });
  add_text_option(
      sub, "--check", "CHECK,...",
      "what counts as a mistake besides wrong numbers: mem, init, race, sync, deadlock, "
      "trap, schedules, launches, several, or all (the default)",
      [&options](const std::string& text) { options.checks = parse_emulation_checks(text); });
  sub.add_flag_callback(
         "--no-checks",
         [&options] {
           options.checks = parse_emulation_checks("mem,sync,deadlock,trap,schedules");
         },
         "do not look for races and uninitialised reads, which is faster")
      ->excludes("--check");
  sub.add_flag("--profile", options.profile,
               "count instructions, shared-memory wavefronts and global sectors");
}

}  // namespace

void add_emulate_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "emulate", "Run kernels' PTX on the CPU: results, races, bank conflicts",
                     emulate_kernels);
  options.kernels.kernels_variable = all.kernels_variable;
  add_problem_of_emulate(sub, options);
  add_schedule_options(sub, options);
  sub.add_flag("--strict", options.strict, "exit with 6 unless every configuration is right")
      ->group(option_group::kOutput);
  add_kernel_options(sub, options.kernels, SpaceOption::yes);
  add_configs_option(sub, options.configs, "configuration, in place of a space; repeatable")
      ->excludes("--space");
  add_arch_option(sub, options.arch);
  add_compile_settings(sub, options.compile);
  add_output_options(sub, options.output);
  sub.footer(
      R"(Nothing is timed. Without --arch, the architecture is sm_90a, or one
that the kernels need.
Exit code 6: something is wrong or flagged. 5: nothing could be emulated.

Examples:
  fatune emulate --space tune
  fatune emulate --seq 200 --causal --schedules 5 --format json
  fatune emulate --profile \
    --config "(FP16,128,64,64,4):async+swizzled+load_2_2_2_tiles")");
}

}  // namespace fatune
