#pragma once

#include <string>

#include "compile/cubin_cache.hpp"
#include "core/kernel_code.hpp"

namespace fatune {

/// The one artifact of the cache whose key begins so. Error(usage): no prefix of a key, none or
/// several begin so, no cache; Error(bad_file): it is damaged.
[[nodiscard]] Artifact cached_artifact(CubinCache* cache, const std::string& prefix);

}  // namespace fatune
