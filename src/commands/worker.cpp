#include "cli/subcommands.hpp"
#include "compile/compiler_processes.hpp"
#include "measure/gpu_worker.hpp"

namespace fatune {
namespace {

/// Serves the fatune that has started this process (docs/worker-protocol.md). Not for users.
ExitCode work_for_parent() {
  configure_logging(Verbosity::normal);
  run_gpu_worker();
  return ExitCode::ok;
}

/// Compiles for the fatune that has started this process. Not for users.
ExitCode compile_for_parent() {
  configure_logging(Verbosity::normal);
  run_compile_worker();
  return ExitCode::ok;
}

}  // namespace

void add_worker_command(const Subcommands& all) {
  const auto add = [&](const char* role, const char* what, ExitCode (*work)()) {
    CLI::App* sub = all.parent.add_subcommand(role, what);
    sub->group("");  // left out of the help
    sub->callback([&chosen = all.chosen, work] { chosen = work; });
  };
  add("worker", "Measure for the fatune that started this process", work_for_parent);
  add("compile-worker", "Compile for the fatune that started this process", compile_for_parent);
}

}  // namespace fatune
