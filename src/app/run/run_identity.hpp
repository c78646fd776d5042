#pragma once

#include <string>

#include "app/run/session.hpp"
#include "report/report.hpp"
#include "store/run_writer.hpp"

namespace fatune {

/// Returns the identity that decides whether stored measurements can replace those of this run
/// (docs/store.md). `header`: the run's report before its first problem. All estimates share one
/// identity, which no run that measures has.
[[nodiscard]] RunIdentity identify(const PlannedRun& run, const RunReport& header);

/// Returns the hash of the problems and their configurations only, whatever measures them.
[[nodiscard]] std::string plan_hash(const PlannedRun& run);

/// Returns the hash that the runs of all shards of a sweep share, and no others: of plan, GPU
/// model, policy, toolchain, sources, name of the fleet and number of shards. `shard.sweep`:
/// plan_hash() of the whole sweep. `emulated`: an estimate uses the instructions that the emulator
/// has executed.
[[nodiscard]] std::string sweep_hash(const PlannedRun& run, const RunReport& header,
                                     const Shard& shard, bool emulated);

/// Returns the SHA-256 of each family's sources and headers, with their names.
[[nodiscard]] SourceHashes source_hashes(const FamilySet& families);

}  // namespace fatune
