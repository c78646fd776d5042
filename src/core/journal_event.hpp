#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/kernel_code.hpp"
#include "core/outcome.hpp"

namespace fatune {

/// What NVML said of the GPU at a sample.
struct GpuReading {
  double sm_mhz = 0.0;
  double power_w = 0.0;
  double temperature_c = 0.0;
  std::uint32_t clock_limits = 0;  ///< NVML's clocks event ("throttle") reasons, a bit each
};

/// One thing that the race of a problem was told. All of them, in their order, told to a new race,
/// bring it to the same state: that is how an interrupted run goes on (docs/store.md).
struct JournalEvent {
  enum class Kind {
    admitted,  ///< verified: it races from now on. us, artifact_key, launch, verification
    sample,    ///< us, throttled, elapsed_s, reading
    failed,    ///< after it was admitted: it is out. outcome
    closed,    ///< nobody else will be admitted. elapsed_s; no config
  };
  Kind kind = Kind::sample;
  std::string config;  ///< short form
  std::string artifact_key;
  LaunchGeometry launch;
  double us = 0.0;  ///< of the sample, or of the verified run
  bool throttled = false;
  double elapsed_s = 0.0;  ///< on the problem so far, before the event
  std::optional<GpuReading> reading;
  Verification verification;
  std::optional<Outcome> outcome;
};

}  // namespace fatune
