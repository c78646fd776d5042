#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "model/options.hpp"
#include "model/report.hpp"
#include "store/merge.hpp"

// The folder of a fleet, which all its machines see (docs/fleets.md). It has the plan of the
// shards, and what each has delivered. Files are written whole, so that they may be on a network
// file system.
namespace fatune {

/// The plan of a fleet: fleet.json.
struct FleetPlan {
  std::string name;
  int shards = 1;
  int limit = 0;  ///< shards at a time; 0: as many as there is room for
};
void write_fleet(const std::filesystem::path& folder, const FleetPlan& plan);
/// Throws Error(bad_file) if the folder is not a fleet's.
[[nodiscard]] FleetPlan read_fleet(const std::filesystem::path& folder);

/// Returns the folder of the records and of the databases beside them.
[[nodiscard]] inline std::filesystem::path records_folder(const std::filesystem::path& folder) {
  return folder / "shards";
}
/// The progress of a shard.
struct ShardState {
  int number = 1;
  std::string lacks;               ///< why it must be repeated; empty: it is done
  std::optional<int> exit_code;    ///< absent: there is no record
  std::filesystem::path database;  ///< empty: no undamaged one was delivered
};
/// Returns the states of all shards, in their order.
[[nodiscard]] std::vector<ShardState> shard_states(const std::filesystem::path& folder,
                                                   const FleetPlan& plan);

/// The bytes of a store as one file.
struct Delivery {
  std::vector<MergedStore> stores;
  std::string bytes;
};
/// Joins the stores on a local disk. Throws as merge_stores().
[[nodiscard]] Delivery join_stores(const std::vector<std::filesystem::path>& stores,
                                   Mixture mixture);

/// Writes the content of a shard's store to a folder that other machines see, and then the record
/// that the shard has ended. Throws Error(io) if they cannot be written. Then there is no new
/// record.
void deliver_shard(const StoreOptions& store, const Shard& shard, ExitCode code,
                   const std::filesystem::path& records);

}  // namespace fatune
