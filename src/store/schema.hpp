#pragma once

#include <span>
#include <string_view>

#include "store/database.hpp"

namespace fatune {

/// Leads from one version of the schema to the next.
struct SchemaStep {
  std::string_view sql;
  void (*convert)(Database&) = nullptr;  ///< what SQL cannot do, after it
};

/// Lead from each version of the schema to the next: the first from an empty file to
/// version 1. Steps are only ever added; docs/store.md describes the result.
[[nodiscard]] std::span<const SchemaStep> schema_steps();

/// Brings a database to version `steps.size()` (PRAGMA user_version) in one transaction.
/// Error(bad_file) when its version is newer, or when it belongs to another program.
void migrate(Database& database, std::span<const SchemaStep> steps);

}  // namespace fatune
