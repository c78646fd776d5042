#include "commands/worker_command.hpp"

#include "app/console/streams.hpp"
#include "compile/compile_worker.hpp"
#include "measure/gpu_worker.hpp"

namespace fatune {

ExitCode work_for_parent() {
  configure_logging(Verbosity::normal);
  run_gpu_worker();
  return ExitCode::ok;
}

ExitCode compile_for_parent() {
  configure_logging(Verbosity::normal);
  run_compile_worker();
  return ExitCode::ok;
}

}  // namespace fatune
