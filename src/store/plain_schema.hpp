#pragma once

namespace fatune {

class Database;

/// Throws Error(bad_file) unless the database has only tables and indexes of plain columns. Views,
/// triggers, virtual tables and expressions (generated columns, checks, conditions of indexes) are
/// code of whoever made the file, which could run without end.
void refuse_active_schema(Database& database);

}  // namespace fatune
