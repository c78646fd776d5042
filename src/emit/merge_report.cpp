#include "emit/merge_report.hpp"

namespace fatune {

const std::vector<Field<MergedStoreRow>>& merged_store_fields() {
  using M = MergedStoreRow;
  static const std::vector<Field<M>> fields{
      {"file", "file", "file of the store that was read", 0, kEverywhere, member<&M::file>},
      {"added", "added", "number of runs that are new in the target", 0, kEverywhere,
       member<&M::added>},
      {"renewed", "renewed", "number of runs replaced because the source has more of their data", 0,
       kEverywhere, member<&M::renewed>, ColumnFit{.leaves = 3}},
      {"known", "known", "number of runs that the target already had", 0, kEverywhere,
       member<&M::known>, ColumnFit{.leaves = 2}},
      {"damaged", "damaged", "number of runs that are left out because they are damaged", 0,
       kEverywhere, member<&M::damaged>},
      {"outcomes", "outcomes", "number of outcomes of configurations in the added and renewed runs",
       0, kEverywhere, member<&M::outcomes>, ColumnFit{.leaves = 1}},
  };
  return fields;
}

Document merge_document(const std::vector<MergedStoreRow>& stores) {
  return rows_document("merge", "stores", merged_store_fields(), stores);
}

}  // namespace fatune
