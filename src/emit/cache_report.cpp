#include "emit/cache_report.hpp"

namespace fatune {

const std::vector<Field<BundleRow>>& bundle_fields() {
  using B = BundleRow;
  static const std::vector<Field<B>> fields{
      {"file", "file", "the bundle", 0, kEverywhere, member<&B::file>},
      {"artifacts", "artifacts", "compiled kernels that it has", 0, kEverywhere,
       member<&B::artifacts>},
      {"added", "added", "of these, new in the cache", 0, kEverywhere, member<&B::added>},
      {"known", "known", "of these, in the cache already", 0, kEverywhere, member<&B::known>,
       ColumnFit{.leaves = 1}},
      {"damaged", "damaged", "kernels that are left out: their key or checksum is wrong", 0,
       kEverywhere, member<&B::damaged>},
  };
  return fields;
}

Document bundle_document(const std::vector<BundleRow>& bundles) {
  return rows_document("cache", "bundles", bundle_fields(), bundles);
}

}  // namespace fatune
