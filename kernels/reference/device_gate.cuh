// Holds a stream until the host has queued everything that a sample consists of, so that no launch
// cost falls between the sample's events. Two marks show how fast the SM's clock ran meanwhile.
#ifndef FATUNE_KERNELS_REFERENCE_DEVICE_GATE_CUH
#define FATUNE_KERNELS_REFERENCE_DEVICE_GATE_CUH

#include "common/ptx_system.cuh"
#include "reference/measurement_args.h"

// shape:   one thread
// sync:    out: `flag` has reached `ticket` (by serial comparison: tickets may wrap), or time is up
//          and `expired` says so. It cannot wait forever, whatever happens to the host. `mark`
//          has the clocks of that moment.
extern "C" __global__ void fatune_device_gate(const __grid_constant__ GateArgs args) {
  const unsigned long long start_ns = globaltimer_ns();
  while (static_cast<int>(ld_relaxed_sys(args.flag) - args.ticket) < 0) {
    if (globaltimer_ns() - start_ns > args.timeout_ns) {
      st_relaxed_sys(args.expired, args.ticket);
      break;
    }
  }
  *args.mark = {sm_cycles(), globaltimer_ns(), sm_index(), 0};
}

// Writes what has passed on the mark's SM since the mark.
// shape:   blocks of one thread, so many that one runs on each SM
// sync:    in: the gate has ended. out: `span` is written, unless no block ran on that SM
extern "C" __global__ void fatune_clock_span(const __grid_constant__ ClockSpanArgs args) {
  const unsigned long long cycles = sm_cycles();
  const unsigned long long ns = globaltimer_ns();
  if (sm_index() == args.mark->sm && atomicAdd(&args.mark->taken_up, 1U) == 0) {
    *args.span = {cycles - args.mark->cycles, ns - args.mark->ns};
  }
}

#endif
