#pragma once

#include <cstdint>

#include "report/shard.hpp"
#include "store/database.hpp"

namespace fatune {

/// Counts the problems of a shard that are finished in a store. Takes into account all runs,
/// including earlier attempts, of the latest sweep that has stored this shard.
[[nodiscard]] std::int64_t count_finished(Database& database, const Shard& shard);

}  // namespace fatune
