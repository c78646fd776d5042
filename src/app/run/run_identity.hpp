#pragma once

#include <string>

#include "app/run/session.hpp"
#include "report/report.hpp"
#include "store/run_writer.hpp"

namespace fatune {

/// The identity that decides whether stored measurements can replace those of this run
/// (docs/store.md). `header`: the run's report before its first problem. All estimates have one,
/// which is that of no run that measures.
[[nodiscard]] RunIdentity identify(const PlannedRun& run, const RunReport& header);

/// Of the problems and their configurations alone, whatever measures them.
[[nodiscard]] std::string plan_hash(const PlannedRun& run);

/// What the runs of all shards of a sweep have in common, and no others: plan, GPU model, policy,
/// toolchain, sources, name of the fleet and count of shards. `shard.sweep`: plan_hash() of the
/// whole. `emulated`: an estimate counts with the instructions that the emulator has executed.
[[nodiscard]] std::string sweep_hash(const PlannedRun& run, const RunReport& header,
                                     const Shard& shard, bool emulated);

/// By family: SHA-256 over its sources and headers, with their names.
[[nodiscard]] SourceHashes source_hashes(const FamilySet& families);

}  // namespace fatune
