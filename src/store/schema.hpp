#pragma once

#include <span>

#include "store/database.hpp"

namespace fatune {

/// Makes the tables of a version of the schema, from nothing or from those of an earlier one.
using SchemaStep = void (*)(Database&);

/// How files come to the latest version of the schema, which docs/store.md describes.
struct SchemaVersions {
  SchemaStep make;                    ///< the tables of the latest version, in an empty file
  std::span<const SchemaStep> steps;  ///< from version 1 to 2, from 2 to 3, ...: only ever added to
};
[[nodiscard]] SchemaVersions schema_versions();

/// Brings a database to the latest version (PRAGMA user_version), `versions.steps.size()` + 1, in
/// one transaction. Error(bad_file) when its version is newer, or when it belongs to another
/// program.
void migrate(Database& database, const SchemaVersions& versions);

/// The indexes of the latest version's tables.
void make_indexes(Database& database);

}  // namespace fatune
