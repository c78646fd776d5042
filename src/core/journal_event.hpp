#pragma once

#include <optional>
#include <string>

#include "core/gpu_reading.hpp"
#include "core/kernel_code.hpp"
#include "core/outcome.hpp"

namespace fatune {

/// One thing that the race of a problem was told. All of them in order, told to a new race of the
/// same policy, bring it to where the former was (race/race.hpp).
struct JournalEvent {
  enum class Kind {
    admitted,  ///< compiled and verified, with a first time
    sample,    ///< one sample was taken
    failed,    ///< withdrawn in mid-race
    closed,    ///< no other configuration will be admitted
  };
  Kind kind = Kind::sample;
  std::string config;                 ///< short form; empty: closed
  std::string artifact_key;           ///< admitted
  LaunchGeometry launch;              ///< admitted
  double us = 0.0;                    ///< admitted: of the first launch; sample: the sample
  bool throttled = false;             ///< sample
  double elapsed_s = 0.0;             ///< spent on the problem when it happened
  std::optional<GpuReading> reading;  ///< sample
  /// Admitted; sample: when it changed what is known of the configuration.
  std::optional<Verification> verification;
  std::optional<Outcome> outcome;  ///< failed: how
};

}  // namespace fatune
