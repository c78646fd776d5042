#include "emit/merge_report.hpp"

namespace fatune {

const Fields<MergedStoreRow>& merged_store_fields() {
  using M = MergedStoreRow;
  static const Fields<M> fields{
      {"file", "file", &M::file},
      {"added", "added", &M::added},
      {"renewed", "renewed", Look{.leaves = 3}, &M::renewed},
      {"known", "known", Look{.leaves = 2}, &M::known},
      {"damaged", "damaged", &M::damaged},
      {"outcomes", "outcomes", Look{.leaves = 1}, &M::outcomes},
  };
  return fields;
}

Document merge_document(const std::vector<MergedStoreRow>& stores) {
  return rows_document("merge", "stores", merged_store_fields(), stores);
}

}  // namespace fatune
