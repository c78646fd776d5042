#pragma once

#include <cstdint>
#include <filesystem>

#include "compile/cubin_cache.hpp"

namespace fatune {

/// What was written to a bundle, or read from it.
struct BundleCounts {
  std::int64_t artifacts = 0;  ///< in the bundle
  std::int64_t added = 0;      ///< to the cache
  std::int64_t known = 0;      ///< the cache had them already
  std::int64_t damaged = 0;    ///< left out: not as they were compiled, or another's
};

/// Writes the cache's artifacts to one SQLite file, in the order of their keys: the same cache
/// gives the same bytes. Damaged ones are left out. Error(io) when it cannot be written.
[[nodiscard]] BundleCounts export_bundle(CubinCache& cache, const std::filesystem::path& file);

/// Adds a bundle's artifacts to the cache, each once its checksum and its key are right.
/// Error(bad_file) when the file is no bundle; Error(io) when the cache cannot be written.
[[nodiscard]] BundleCounts import_bundle(const std::filesystem::path& file, CubinCache& cache);

}  // namespace fatune
