#pragma once

#include <cstdint>
#include <filesystem>

#include "compile/cubin_cache.hpp"

namespace fatune {

/// Counts of the artifacts written to a bundle or read from it.
struct BundleCounts {
  std::int64_t artifacts = 0;  ///< how many the bundle has
  std::int64_t added = 0;      ///< how many were new to the cache
  std::int64_t known = 0;      ///< the cache had them already
  std::int64_t damaged = 0;    ///< skipped: its checksum or its key is wrong
};

/// Writes the cache's artifacts to one SQLite file, in the order of their keys, so that the same
/// cache gives the same bytes. Damaged artifacts are skipped. Throws Error(io) if the file cannot
/// be written, or if the cache may have artifacts of another user.
[[nodiscard]] BundleCounts export_bundle(CubinCache& cache, const std::filesystem::path& file);

/// Adds a bundle's artifacts to the cache after checking the checksum and the key of each. Throws
/// Error(bad_file) if the file is not a bundle, and Error(io) if the cache cannot be written, which
/// says how many artifacts were added before.
[[nodiscard]] BundleCounts import_bundle(const std::filesystem::path& file, CubinCache& cache);

}  // namespace fatune
