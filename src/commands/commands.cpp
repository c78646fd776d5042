#include "commands/commands.hpp"

namespace fatune {

/// The only list of the subcommands, in the order of the help.
// clang-format off
#define FATUNE_SUBCOMMANDS(X) \
  X(sweep) \
  X(run) \
  X(verify_winner) \
  X(cases) \
  X(check) \
  X(debug) \
  X(emulate) \
  X(history) \
  X(show) \
  X(report) \
  X(compare) \
  X(new_family) \
  X(list) \
  X(compile) \
  X(sass) \
  X(profile) \
  X(export) \
  X(import) \
  X(evaluate) \
  X(merge) \
  X(cluster) \
  X(cache) \
  X(predict) \
  X(workload) \
  X(devices) \
  X(doctor) \
  X(completion) \
  X(man) \
  X(worker)
// clang-format on

// Each is in the folder of its name, or in that of a related command: merge in cluster, show in
// history, devices in doctor, completion and worker in man.
#define FATUNE_DECLARE(name) void add_##name##_command(const Subcommands& all);
FATUNE_SUBCOMMANDS(FATUNE_DECLARE)
#undef FATUNE_DECLARE

void add_commands(const Subcommands& all) {
#define FATUNE_ADD(name) add_##name##_command(all);
  FATUNE_SUBCOMMANDS(FATUNE_ADD)
#undef FATUNE_ADD
}

}  // namespace fatune
