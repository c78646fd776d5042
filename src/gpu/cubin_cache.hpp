#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernel_code.hpp"

namespace fatune {

/// The bytes of a cache file: `magic`, which ends with a newline, 64 hex digits of SHA-256 over all
/// that follows, "\n", the payload.
[[nodiscard]] std::string with_checksum(std::string_view magic, std::string_view payload);
/// Returns the payload of such a file; nothing unless every byte is as written.
[[nodiscard]] std::optional<std::string_view> checked_payload(std::string_view magic,
                                                              std::string_view bytes);

/// An artifact as the bytes of a cache file:
/// with_checksum() of one line of JSON (facts, names, sizes of the parts), then the cubin and the
/// PTX.
[[nodiscard]] std::string encode_entry(const Artifact& artifact);

/// Returns nothing unless every byte is as written and the entry belongs to `key`.
[[nodiscard]] std::optional<Artifact> decode_entry(std::string_view bytes, const std::string& key);

struct CacheSettings {
  std::filesystem::path folder;
  std::int64_t cap_bytes = std::int64_t{1} << 30;
};

/// $XDG_CACHE_HOME/fatune, else $HOME/.cache/fatune, else an empty path: no folder is known. The
/// cap is 1 GiB or FATUNE_CACHE_MIB. Throws Error(usage) when FATUNE_CACHE_MIB is not a positive
/// integer.
[[nodiscard]] CacheSettings cache_settings_from_environment();

/// Why cache_settings_from_environment() knows no folder, and what mends that.
inline constexpr const char* kNoCacheFolder =
    "neither XDG_CACHE_HOME nor HOME is set: name a folder with --cache-dir";

struct CacheContents {
  std::int64_t entries = 0;
  std::int64_t bytes = 0;
};

/// The kinds of entries of the cache's folder.
enum class CacheKind { artifact, verdict };

/// The files of the cache: one for each entry, named after its kind and key, shared by threads and
/// processes. Entries are published by rename, so a reader sees a whole entry or none. When the
/// folder grows over its cap, the least recently used entries of all kinds are removed first. A
/// folder that cannot be written costs one warning, never a failure; its entries are still used.
/// One that somebody else could have written is not used at all, with one warning.
class CacheFolder {
 public:
  explicit CacheFolder(CacheSettings settings);

  /// The bytes of an entry, which counts as used now. Nothing if there is none.
  [[nodiscard]] std::optional<std::string> read(CacheKind kind, const std::string& key);
  /// Whether there is an entry. It then does not count as used.
  [[nodiscard]] bool contains(CacheKind kind, const std::string& key) const;
  /// Returns whether the entry was written. After the first failure nothing is.
  bool write(CacheKind kind, const std::string& key, const std::string& bytes);
  /// Returns why the entry could not be written; empty if it was.
  [[nodiscard]] std::string try_write(CacheKind kind, const std::string& key,
                                      const std::string& bytes);

  [[nodiscard]] CacheContents contents(CacheKind kind) const;
  /// The keys that begin with `prefix`, sorted. Does not check that their entries can be read.
  [[nodiscard]] std::vector<std::string> keys(CacheKind kind, std::string_view prefix) const;
  [[nodiscard]] const CacheSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] std::int64_t evicted() const noexcept { return evicted_; }
  /// Returns why entries cannot be written; empty if they can. Creates the folder.
  [[nodiscard]] std::string why_unwritable() const;
  /// Returns why the folder's entries may be somebody else's code, and what mends that; empty if
  /// they are this user's, or root's.
  [[nodiscard]] std::string why_unsafe() const;
  std::int64_t clear();  ///< removes every entry (nothing else) and returns how many

 private:
  [[nodiscard]] std::filesystem::path entry_path(CacheKind kind, const std::string& key) const;
  [[nodiscard]] bool may_use();
  void give_up(const std::string& reason);
  void keep_under_cap(std::int64_t added_bytes);

  CacheSettings settings_;
  std::atomic<std::int64_t> evicted_{0};
  std::atomic<bool> writable_{true};
  std::mutex eviction_;                ///< one thread counts and evicts at a time
  std::int64_t estimated_bytes_ = -1;  ///< the folder's size; -1: not counted yet
};

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
