#include "emit/cache_report.hpp"

namespace fatune {

const Fields<BundleRow>& bundle_fields() {
  using B = BundleRow;
  static const Fields<B> fields{
      {"file", "file", &B::file},          {"artifacts", "artifacts", &B::artifacts},
      {"added", "added", &B::added},       {"known", "known", Look{.leaves = 1}, &B::known},
      {"damaged", "damaged", &B::damaged},
  };
  return fields;
}

Document bundle_document(const std::vector<BundleRow>& bundles) {
  return rows_document("cache", "bundles", bundle_fields(), bundles);
}

}  // namespace fatune
