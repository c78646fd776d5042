#include "emit/cache_report.hpp"

namespace fatune {

const std::vector<Field<BundleRow>>& bundle_fields() {
  using B = BundleRow;
  static const std::vector<Field<B>> fields{
      {"file", "file", "file of the bundle", 0, kEverywhere, member<&B::file>},
      {"artifacts", "artifacts", "number of compiled kernels in the bundle", 0, kEverywhere,
       member<&B::artifacts>},
      {"added", "added", "number of the bundle's kernels that are new in the cache", 0, kEverywhere,
       member<&B::added>},
      {"known", "known", "number of the bundle's kernels that the cache already had", 0,
       kEverywhere, member<&B::known>, ColumnFit{.leaves = 1}},
      {"damaged", "damaged",
       "number of kernels that are left out because their key or checksum is wrong", 0, kEverywhere,
       member<&B::damaged>},
  };
  return fields;
}

Document bundle_document(const std::vector<BundleRow>& bundles) {
  return rows_document("cache", "bundles", bundle_fields(), bundles);
}

}  // namespace fatune
