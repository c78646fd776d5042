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

/// Of a fleet of so many shards. JSON: configs/schema/cluster_missing.schema.json.
[[nodiscard]] Document missing_document(const std::vector<ShardRow>& rows, int shards);
[[nodiscard]] const std::vector<Field<ShardRow>>& missing_shard_fields();

}  // namespace fatune
