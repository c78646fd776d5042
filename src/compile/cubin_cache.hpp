#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel_code.hpp"

namespace fatune {

struct CacheSettings {
  std::filesystem::path folder;
  std::int64_t cap_bytes = std::int64_t{1} << 30;
};

/// $XDG_CACHE_HOME/fatune, else $HOME/.cache/fatune; the cap is 1 GiB or FATUNE_CACHE_MIB.
/// Throws Error(usage) when FATUNE_CACHE_MIB is not a positive integer.
[[nodiscard]] CacheSettings cache_settings_from_environment();

struct CacheStats {
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  std::int64_t damaged = 0;  ///< entries that failed their check; each is a miss too
  std::int64_t stored = 0;
  std::int64_t evicted = 0;
};

struct CacheContents {
  std::int64_t entries = 0;
  std::int64_t bytes = 0;
};

/// Machine code by content address, one file per artifact, shared by threads and processes. Entries
/// are checksummed and published by rename, so a reader sees a whole entry or none; a damaged entry
/// counts as absent and is replaced. When the folder grows over its cap, the least recently used
/// entries are removed first. A folder that cannot be written costs one warning, never a failure;
/// its entries are still used.
class CubinCache {
 public:
  explicit CubinCache(CacheSettings settings);

  /// The artifact with `from_cache` set, or nothing. `need_ptx`: an entry without PTX counts as
  /// absent.
  [[nodiscard]] std::optional<Artifact> find(const std::string& key, bool need_ptx = false);
  void store(const Artifact& artifact);  ///< under artifact.key

  [[nodiscard]] CacheStats stats() const;
  [[nodiscard]] CacheContents contents() const;
  /// The keys that begin with `prefix`, sorted. Does not check that their entries can be read.
  [[nodiscard]] std::vector<std::string> keys(std::string_view prefix) const;
  [[nodiscard]] const CacheSettings& settings() const noexcept { return settings_; }
  /// Returns why entries cannot be written; empty if they can. Creates the folder.
  [[nodiscard]] std::string why_unwritable() const;
  std::int64_t clear();  ///< removes every entry (nothing else) and returns how many

 private:
  [[nodiscard]] std::filesystem::path entry_path(const std::string& key) const;
  void give_up(const std::string& reason);
  void keep_under_cap(std::int64_t added_bytes);

  CacheSettings settings_;
  std::atomic<std::int64_t> hits_{0};
  std::atomic<std::int64_t> misses_{0};
  std::atomic<std::int64_t> damaged_{0};
  std::atomic<std::int64_t> stored_{0};
  std::atomic<std::int64_t> evicted_{0};
  std::atomic<bool> writable_{true};
  std::mutex eviction_;                ///< one thread counts and evicts at a time
  std::int64_t estimated_bytes_ = -1;  ///< of the folder; -1: not counted yet
};

}  // namespace fatune
