#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"
#include "commands/evaluate/evaluate_command.hpp"

namespace fatune {

void add_evaluate_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "evaluate", "Verify and time configurations that another program proposes", evaluate);
  add_measure_options(sub, options, SpaceOption::no, Strategy::race);
  sub.footer(
      R"(It reads proposals from standard input and writes answers to standard output, as lines of JSON:
  {"id": 1, "config": "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles"}

Examples:
  fatune evaluate --family flash_sm80 --seq 4096 --dhead 128 \
    < proposals.jsonl > answers.jsonl)");
}

}  // namespace fatune
