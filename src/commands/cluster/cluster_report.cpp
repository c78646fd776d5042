#include "commands/cluster/cluster_report.hpp"

#include <fmt/format.h>

namespace fatune {

Fields<ShardRow> missing_shard_fields() {
  using S = ShardRow;
  return {
      {"shard", "shard", &S::shard},
      {"exit_code", "exit code", &S::exit_code},
      {"lacks", "lacks", &S::lacks},
  };
}

Document missing_document(const std::vector<ShardRow>& rows, int shards) {
  return rows_document("cluster_missing", "missing", missing_shard_fields(), rows,
                       {.members = {{"shards", shards}},
                        .if_empty = fmt::format("all {} shards are done\n", shards)});
}

Fields<MergedStoreRow> merged_store_fields() {
  using M = MergedStoreRow;
  return {
      {"file", "file", &M::file},          {"added", "added", &M::added},
      {"renewed", "renewed", &M::renewed}, {"known", "known", &M::known},
      {"damaged", "damaged", &M::damaged}, {"outcomes", "outcomes", &M::outcomes},
  };
}

Document merge_document(const std::vector<MergedStoreRow>& stores) {
  return rows_document("merge", "stores", merged_store_fields(), stores);
}

}  // namespace fatune
