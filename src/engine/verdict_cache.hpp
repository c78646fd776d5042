#pragma once

#include <optional>
#include <string>

#include "compile/cache_folder.hpp"
#include "engine/emulation_verdict.hpp"

namespace fatune {

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
