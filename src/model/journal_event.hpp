#pragma once

#include <optional>
#include <string>

#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "model/outcome.hpp"

namespace fatune {

/// One event that the race of a problem was told. A new race of the same policy that is told all of
/// them in order reaches the same state (race/race.hpp).
struct JournalEvent {
  enum class Kind {
    admitted,  ///< compiled and verified, with a first time
    sample,    ///< one sample was taken
    failed,    ///< withdrawn in mid-race
    closed,    ///< no other configuration will be admitted
    turn,      ///< one turn of a sustained final was over
  };
  Kind kind = Kind::sample;
  std::string config;        ///< short form; empty for closed
  std::string artifact_key;  ///< set if admitted
  LaunchGeometry launch;     ///< set if admitted
  /// Time of the first launch if admitted, of the sample, or of a launch in the turn.
  double us = 0.0;
  bool throttled = false;             ///< set for a sample
  double elapsed_s = 0.0;             ///< time spent on the problem until the event
  std::optional<GpuReading> reading;  ///< set for a sample and a turn
  /// Set if admitted, and for a sample or a turn that changed what is known of the configuration.
  std::optional<Verification> verification;
  std::optional<Outcome> outcome;  ///< how it failed, if it did
};

template <>
inline constexpr EnumNames<5> kEnumNames<JournalEvent::Kind>{
    "kind of journal event", {"admitted", "sample", "failed", "closed", "turn"}};

}  // namespace fatune
