#pragma once

#include <string>

#include "compile/cubin_cache.hpp"
#include "core/kernel_code.hpp"

namespace fatune {

/// Returns the only artifact of the cache whose key begins with `prefix`. Throws Error(usage) if
/// `prefix` is not the beginning of a key, if no key or several keys begin with it, if the artifact
/// is only PTX, and without a cache. Throws Error(bad_file) if the artifact is damaged.
[[nodiscard]] Artifact cached_artifact(CubinCache* cache, const std::string& prefix);

}  // namespace fatune
