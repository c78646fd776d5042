#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emit/document/document.hpp"

namespace fatune {

/// A shard of a fleet that is not done.
struct ShardRow {
  int shard = 1;
  std::string lacks;
  std::optional<int> exit_code;
};

/// The shards of a fleet that are not done. `shards` is the number of shards of the fleet. JSON:
/// configs/schema/cluster_missing.schema.json.
[[nodiscard]] Document missing_document(const std::vector<ShardRow>& rows, int shards);
[[nodiscard]] const Fields<ShardRow>& missing_shard_fields();

}  // namespace fatune
