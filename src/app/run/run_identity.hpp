#pragma once

#include <string>

#include "app/run/session.hpp"
#include "report/report.hpp"
#include "store/run_writer.hpp"

namespace fatune {

/// The identity that decides whether stored measurements can replace those of this run
/// (docs/store.md). `header`: the run's report before its first problem.
[[nodiscard]] RunIdentity identify(const PlannedRun& run, const RunReport& header);

/// By family: SHA-256 over its sources and headers, with their names.
[[nodiscard]] SourceHashes source_hashes(const FamilySet& families);

}  // namespace fatune
