#include "emit/cluster_report.hpp"

#include <utility>

#include <fmt/format.h>

namespace fatune {

const std::vector<Field<ShardRow>>& missing_shard_fields() {
  using S = ShardRow;
  static const std::vector<Field<S>> fields{
      {"shard", "shard", "number of the shard, from 1", 0, kEverywhere, member<&S::shard>},
      {"exit_code", "exit code",
       "exit code of the shard; null: the shard has left no record of its end", 0, kEverywhere,
       member<&S::exit_code>, ColumnFit{.leaves = 1}},
      {"lacks", "lacks", "why the shard must be repeated", 0, kEverywhere, member<&S::lacks>},
  };
  return fields;
}

Document missing_document(const std::vector<ShardRow>& rows, int shards) {
  const auto records = [rows] { return table_of(missing_shard_fields(), rows); };
  const auto for_people = [rows, shards, records] {
    return rows.empty() ? Blocks{block::Text{fmt::format("all {} shards are done\n", shards)}}
                        : Blocks{block::Rows{records()}};
  };
  const auto object = [rows, shards] {
    Json json = json_head("cluster_missing");
    json["shards"] = shards;
    json["missing"] = json_rows(missing_shard_fields(), rows);
    return json;
  };
  return {for_people, records, object};
}

}  // namespace fatune
