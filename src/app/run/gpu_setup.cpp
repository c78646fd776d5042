#include "app/run/gpu_setup.hpp"

#include <fmt/format.h>

#include "app/console/console.hpp"

namespace fatune {

MeasuringSetup gpu_setup(const Target& target, const TargetGpu& gpu, const TargetOptions& options,
                         const OutputOptions& output) {
  MeasuringSetup setup;
  setup.device_ordinal = gpu.ordinal;
  setup.uuid = gpu.uuid;
  setup.arch = target.limits.arch;
  setup.wait = options.no_wait ? LockWait::no : LockWait::yes;
  setup.on_wait = [output, gpu, name = target.limits.name] {
    print_note(output, fmt::format("another fatune measures on {} (GPU {}): waiting for it", name,
                                   gpu.ordinal));
  };
  return setup;
}

}  // namespace fatune
