#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "print/document/document.hpp"
#include "print/document/table.hpp"

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
[[nodiscard]] Fields<ShardRow> missing_shard_fields();

/// A store that was merged into another one.
struct MergedStoreRow {
  std::string file;
  std::int64_t added = 0;
  std::int64_t renewed = 0;
  std::int64_t known = 0;
  std::int64_t damaged = 0;
  std::int64_t outcomes = 0;
};

/// JSON: configs/schema/merge.schema.json.
[[nodiscard]] Document merge_document(const std::vector<MergedStoreRow>& stores);
[[nodiscard]] Fields<MergedStoreRow> merged_store_fields();

}  // namespace fatune
