#include "emit/cluster_report.hpp"

#include <utility>

#include <fmt/format.h>

namespace fatune {

const Fields<ShardRow>& missing_shard_fields() {
  using S = ShardRow;
  static const Fields<S> fields{
      {"shard", "shard", &S::shard},
      {"exit_code", "exit code", Look{.leaves = 1}, &S::exit_code},
      {"lacks", "lacks", &S::lacks},
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
