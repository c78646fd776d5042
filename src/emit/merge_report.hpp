#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emit/document/document.hpp"

namespace fatune {

/// A store that was merged into another one.
struct MergedStoreRow {
  std::string file;
  std::int64_t added = 0;
  std::int64_t renewed = 0;
  std::int64_t known = 0;
  std::int64_t damaged = 0;
  std::int64_t outcomes = 0;
};

/// JSON: configs/schema/merge.schema.json.
[[nodiscard]] Document merge_document(const std::vector<MergedStoreRow>& stores);
[[nodiscard]] const Fields<MergedStoreRow>& merged_store_fields();

}  // namespace fatune
