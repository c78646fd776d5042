#pragma once

#include "store/database.hpp"

namespace fatune {

/// Moves all rows into the tables of version 4 of the schema, `runs_4`, `run_problems_4` and
/// `outcomes_4`, which then take the names of the former tables. Checks the rows against their
/// former seals and digests first: damaged rows stay damaged.
void convert_to_version_4(Database& database);

}  // namespace fatune
