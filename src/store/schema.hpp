#pragma once

#include "store/database.hpp"

namespace fatune {

/// False if the file has no tables yet. Throws Error(bad_file) if it belongs to another program, or
/// if its format (PRAGMA user_version) is not the one that docs/store.md describes.
[[nodiscard]] bool has_schema(Database& database);

/// Makes the tables in a file that has none, in one transaction. Throws as has_schema() does.
void make_schema(Database& database);

/// Throws Error(bad_file) unless the database has only tables and indexes of plain columns. Views,
/// triggers, virtual tables and expressions (generated columns, checks, conditions of indexes) are
/// code of whoever made the file, which could run without end.
void refuse_active_schema(Database& database);

}  // namespace fatune
