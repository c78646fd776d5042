#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
  explicit CacheFolder(CacheSettings settings) : settings_(std::move(settings)) {}

  /// The bytes of an entry, which counts as used now. Nothing if there is none.
  [[nodiscard]] std::optional<std::string> read(CacheKind kind, const std::string& key);
  /// Whether there is an entry. It then does not count as used, and may be damaged.
  [[nodiscard]] bool contains(const std::string& key, CacheKind kind = CacheKind::artifact) const {
    std::error_code ignored;
    return std::filesystem::exists(entry_path(kind, key), ignored) && why_unsafe().empty();
  }
  /// After the first failure nothing is written.
  void write(CacheKind kind, const std::string& key, const std::string& bytes);
  /// Returns why the entry could not be written; empty if it was.
  [[nodiscard]] std::string try_write(CacheKind kind, const std::string& key,
                                      const std::string& bytes);

  [[nodiscard]] CacheContents contents(CacheKind kind = CacheKind::artifact) const;
  /// The keys that begin with `prefix`, sorted. Does not check that their entries can be read.
  [[nodiscard]] std::vector<std::string> keys(std::string_view prefix,
                                              CacheKind kind = CacheKind::artifact) const;
  [[nodiscard]] const CacheSettings& settings() const noexcept { return settings_; }
  /// Returns why entries cannot be written; empty if they can. Creates the folder.
  [[nodiscard]] std::string why_unwritable() const;
  /// Returns why the folder's entries may be somebody else's code, and what mends that; empty if
  /// they are this user's, or root's.
  [[nodiscard]] std::string why_unsafe() const;

 private:
  [[nodiscard]] std::filesystem::path entry_path(CacheKind kind, const std::string& key) const;
  /// Returns why entries cannot be written.
  [[nodiscard]] std::string make_folder() const;
  [[nodiscard]] bool may_use();
  void give_up(const std::string& reason);
  void keep_under_cap(std::int64_t added_bytes);

  CacheSettings settings_;
  std::atomic<bool> writable_{true};
  std::mutex eviction_;                ///< one thread counts and evicts at a time
  std::int64_t estimated_bytes_ = -1;  ///< the folder's size; -1: not counted yet
};

/// Machine code by content address, in a folder that also has entries of other kinds. Entries are
/// checksummed; a damaged entry counts as absent and is replaced.
class CubinCache : public CacheFolder {
 public:
  using CacheFolder::CacheFolder;

  /// The artifact with `from_cache` set, or nothing. `need_ptx`: an entry without PTX counts as
  /// absent.
  [[nodiscard]] std::optional<Artifact> find(const std::string& key, bool need_ptx = false);
  void store(const Artifact& artifact) {  ///< under artifact.key
    write(CacheKind::artifact, artifact.key, encode_entry(artifact));
  }
  /// Returns why the artifact could not be stored; empty if it was.
  [[nodiscard]] std::string try_store(const Artifact& artifact) {
    return try_write(CacheKind::artifact, artifact.key, encode_entry(artifact));
  }
};

}  // namespace fatune
