// Holds a stream until the host has queued everything that a sample consists of, so that no launch
// cost falls between the sample's events.
#ifndef FATUNE_KERNELS_REFERENCE_DEVICE_GATE_CUH
#define FATUNE_KERNELS_REFERENCE_DEVICE_GATE_CUH

#include "common/ptx_system.cuh"
#include "reference/measurement_args.h"

// shape:   one thread
// sync:    out: `flag` has reached `ticket` (by serial comparison: tickets may wrap), or the time
// is
//          over and `expired` says so. It cannot wait forever, whatever happens to the host.
extern "C" __global__ void fatune_device_gate(const __grid_constant__ GateArgs args) {
  const unsigned long long start_ns = globaltimer_ns();
  while (static_cast<int>(ld_relaxed_sys(args.flag) - args.ticket) < 0) {
    if (globaltimer_ns() - start_ns > args.timeout_ns) {
      st_relaxed_sys(args.expired, args.ticket);
      return;
    }
  }
}

#endif
