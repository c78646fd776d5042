#pragma once

#include "store/database.hpp"

namespace fatune {

/// False if the file has no tables yet. Throws Error(bad_file) if it belongs to another program, or
/// if its format (PRAGMA user_version) is not the one that docs/store.md describes.
[[nodiscard]] bool has_schema(Database& database);

/// Makes the tables in a file that has none, in one transaction. Throws as has_schema() does.
void make_schema(Database& database);

}  // namespace fatune
