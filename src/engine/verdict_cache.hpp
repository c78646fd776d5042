#pragma once

#include <optional>
#include <string>

#include "gpu/cubin_cache.hpp"
#include "model/outcome.hpp"
#include "proof/small_emulation.hpp"

namespace fatune {

/// The verdict of emulation on one configuration.
struct EmulationVerdict {
  Verification verification;  ///< has no inputs if it could not be emulated
  /// WrongResult or Flagged. Empty: it is right, or could not be emulated.
  std::optional<Outcome> failure;
  std::string not_covered;  ///< the reason why it could not be emulated; empty: it was
  std::optional<CountedSamples> work = std::nullopt;  ///< a right kernel's work; absent: unknown
};

/// Verdicts of emulation, kept in the folder of the cubin cache. Entries are checksummed. One that
/// is damaged, or of another key, counts as absent and is replaced.
class VerdictCache {
 public:
  /// `folder` must outlive this; null: nothing is kept.
  explicit VerdictCache(CacheFolder* folder) : folder_(folder) {}

  /// `key`: 64 hexadecimal digits, a hash of everything that the verdict depends on.
  [[nodiscard]] std::optional<EmulationVerdict> find(const std::string& key);
  /// Keeps a verdict, unless the configuration could not be emulated.
  void store(const std::string& key, const EmulationVerdict& verdict);

 private:
  CacheFolder* folder_;
};

}  // namespace fatune
