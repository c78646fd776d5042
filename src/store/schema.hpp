#pragma once

#include <span>

#include "store/database.hpp"

namespace fatune {

/// Makes the tables of one version of the schema, from nothing or from those of an earlier version.
using SchemaStep = void (*)(Database&);

/// How files are brought to the latest version of the schema, which docs/store.md describes.
struct SchemaVersions {
  SchemaStep make;                    ///< makes the tables of the latest version in an empty file
  std::span<const SchemaStep> steps;  ///< from version 1 to 2, from 2 to 3, ...; append only
};
[[nodiscard]] SchemaVersions schema_versions();
[[nodiscard]] std::int64_t latest_version(const SchemaVersions& versions);
/// The version of the file's tables; 0: it has none yet.
[[nodiscard]] std::int64_t schema_version(Database& database);

/// Throws Error(bad_file) if the database's version is newer, or if it belongs to another program.
void check_can_migrate(Database& database, const SchemaVersions& versions);

/// Migrates a database to the latest version (PRAGMA user_version), in one transaction. Throws as
/// check_can_migrate().
void migrate(Database& database, const SchemaVersions& versions);

/// Makes the indexes of the latest version's tables.
void make_indexes(Database& database);

}  // namespace fatune
