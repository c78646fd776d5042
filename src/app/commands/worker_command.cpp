#include "app/commands/worker_command.hpp"

#include "app/console/streams.hpp"
#include "measure/gpu_worker.hpp"

namespace fatune {

ExitCode work_for_parent() {
  configure_logging(Verbosity::normal);
  run_gpu_worker();
  return ExitCode::ok;
}

}  // namespace fatune
