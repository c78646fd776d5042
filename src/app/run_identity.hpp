#pragma once

#include <string>

#include "app/session.hpp"
#include "report/report.hpp"
#include "store/run_writer.hpp"

namespace fatune {

/// What decides whether stored measurements can stand for those of this run (docs/store.md).
/// `header`: the run's report before its first problem.
[[nodiscard]] RunIdentity identify(const PlannedRun& run, const RunReport& header);

/// SHA-256 over the family's sources and headers, with their names.
[[nodiscard]] std::string source_hash(const Family& family);

}  // namespace fatune
