#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/cache_folder.hpp"
#include "core/kernel_code.hpp"

namespace fatune {

struct CacheStats {
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  std::int64_t damaged = 0;  ///< entries that failed their check; each is a miss too
  std::int64_t stored = 0;
  std::int64_t evicted = 0;  ///< entries of all kinds
};

/// Machine code by content address, in a CacheFolder. Entries are checksummed; a damaged entry
/// counts as absent and is replaced.
class CubinCache {
 public:
  explicit CubinCache(CacheSettings settings);

  /// The artifact with `from_cache` set, or nothing. `need_ptx`: an entry without PTX counts as
  /// absent.
  [[nodiscard]] std::optional<Artifact> find(const std::string& key, bool need_ptx = false);
  /// Whether there is an entry. Does not read it: it may be damaged.
  [[nodiscard]] bool contains(const std::string& key) const {
    return folder_.contains(CacheKind::artifact, key);
  }
  void store(const Artifact& artifact);  ///< under artifact.key
  /// Returns why the artifact could not be stored; empty if it was.
  [[nodiscard]] std::string try_store(const Artifact& artifact);

  [[nodiscard]] CacheStats stats() const;
  /// The keys that begin with `prefix`, sorted. Does not check that their entries can be read.
  [[nodiscard]] std::vector<std::string> keys(std::string_view prefix) const {
    return folder_.keys(CacheKind::artifact, prefix);
  }
  [[nodiscard]] CacheContents contents() const { return folder_.contents(CacheKind::artifact); }
  [[nodiscard]] const CacheSettings& settings() const noexcept { return folder_.settings(); }
  [[nodiscard]] std::string why_unwritable() const { return folder_.why_unwritable(); }
  std::int64_t clear() { return folder_.clear(); }  ///< all kinds of entries
  /// The folder, which also has entries of other kinds.
  [[nodiscard]] CacheFolder& folder() noexcept { return folder_; }
  [[nodiscard]] const CacheFolder& folder() const noexcept { return folder_; }

 private:
  CacheFolder folder_;
  std::atomic<std::int64_t> hits_{0};
  std::atomic<std::int64_t> misses_{0};
  std::atomic<std::int64_t> damaged_{0};
  std::atomic<std::int64_t> stored_{0};
};

}  // namespace fatune
