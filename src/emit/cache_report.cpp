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
  const auto records = [&] { return table_of(bundle_fields(), bundles); };
  const auto for_people = [records] { return Blocks{block::Rows{records()}}; };
  const auto object = [&] {
    Json json = json_head("cache");
    json["bundles"] = json_rows(bundle_fields(), bundles);
    return json;
  };
  return {for_people, records, object};
}

}  // namespace fatune
