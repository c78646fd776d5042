#include "commands/cache/cache_report.hpp"

namespace fatune {

Fields<BundleRow> bundle_fields() {
  using B = BundleRow;
  return {
      {"file", "file", &B::file},          {"artifacts", "artifacts", &B::artifacts},
      {"added", "added", &B::added},       {"known", "known", &B::known},
      {"damaged", "damaged", &B::damaged},
  };
}

Document bundle_document(const std::vector<BundleRow>& bundles) {
  return rows_document("cache", "bundles", bundle_fields(), bundles);
}

}  // namespace fatune
