#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "print/document/document.hpp"
#include "print/document/table.hpp"

namespace fatune {

/// A bundle of compiled kernels that was written or read.
struct BundleRow {
  std::string file;
  std::int64_t artifacts = 0;
  std::int64_t added = 0;
  std::int64_t known = 0;
  std::int64_t damaged = 0;
};

/// JSON: configs/schema/cache.schema.json.
[[nodiscard]] Document bundle_document(const std::vector<BundleRow>& bundles);
[[nodiscard]] Fields<BundleRow> bundle_fields();

}  // namespace fatune
