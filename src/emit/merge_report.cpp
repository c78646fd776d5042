#include "emit/merge_report.hpp"

namespace fatune {

const std::vector<Field<MergedStoreRow>>& merged_store_fields() {
  using M = MergedStoreRow;
  static const std::vector<Field<M>> fields{
      {"file", "file", "the store that was read", 0, kEverywhere, member<&M::file>},
      {"added", "added", "runs that are new in the target", 0, kEverywhere, member<&M::added>},
      {"renewed", "renewed", "runs of which the target had less", 0, kEverywhere,
       member<&M::renewed>, ColumnFit{.leaves = 3}},
      {"known", "known", "runs that the target had already", 0, kEverywhere, member<&M::known>,
       ColumnFit{.leaves = 2}},
      {"damaged", "damaged", "runs that are left out, because they are damaged", 0, kEverywhere,
       member<&M::damaged>},
      {"outcomes", "outcomes", "configurations' outcomes of the runs added and renewed", 0,
       kEverywhere, member<&M::outcomes>, ColumnFit{.leaves = 1}},
  };
  return fields;
}

Document merge_document(const std::vector<MergedStoreRow>& stores) {
  return rows_document("merge", "stores", merged_store_fields(), stores);
}

}  // namespace fatune
