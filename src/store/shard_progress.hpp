#pragma once

#include <cstdint>

#include "report/shard.hpp"
#include "store/database.hpp"

namespace fatune {

/// How many of a shard's problems are finished in a store, by the latest sweep that has stored this
/// shard, and earlier attempts at it.
[[nodiscard]] std::int64_t count_finished(Database& database, const Shard& shard);

}  // namespace fatune
