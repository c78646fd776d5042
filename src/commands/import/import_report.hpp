#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "print/document/document.hpp"
#include "print/document/table.hpp"

namespace fatune {

/// A run that was imported.
struct ImportedRun {
  std::int64_t run = 0;  ///< its number in the store
  std::string started_at;
  std::string device;
  std::string family;
  std::size_t problems = 0;
  std::size_t ranked = 0;  ///< over all problems
  std::size_t failed = 0;
  bool complete = true;
};

/// JSON: configs/schema/import.schema.json.
[[nodiscard]] Document import_document(const std::vector<ImportedRun>& runs);
[[nodiscard]] Fields<ImportedRun> imported_run_fields();

}  // namespace fatune
