#include "app/commands/sweep_command.hpp"
#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"
#include "cli/text_option.hpp"

namespace fatune {
namespace {

void add_audit_option(CLI::App& app, AuditOptions& audit) {
  add_text_option(app, "--audit", "N|all",
                  "also try N configurations per problem that the rules dropped, and say what the "
                  "rules saved and cost",
                  [&](const std::string& text) {
                    audit.all = text == "all";
                    audit.count = audit.all ? 0 : parse_integer(text, "--audit", 1, kMostSamples);
                  });
}

}  // namespace

void add_sweep_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "sweep", "Find the fastest configuration for each problem", sweep);
  options.kernels.kernels_variable = all.kernels_variable;
  add_measure_options(sub, options, SpaceOption::yes, Strategy::race);
  add_audit_option(sub, options.audit);
  add_cover_option(
      sub,
      "with several problems: also time winners of the others that the rules dropped on "
      "one, and show the smallest set of configurations of which one is within PERCENT "
      "of each winner",
      options.cover_percent);
  add_counters_option(sub, options.counters);
  sub.footer(R"(Examples:
  fatune sweep --seq 4096 --dhead 128
  fatune sweep --seq 512,1024,2048,4096 --dhead 128 --dtype fp16,bf16 --out results
  fatune sweep --seq 8192 --dhead 64 --causal --space all --best best.json
  fatune sweep --seq 4096 --dhead 128 --arch sm_80 --device none    (estimate, no GPU)
  KERNELS=64,32 fatune sweep --seq 1000 --format csv)");
}

}  // namespace fatune
