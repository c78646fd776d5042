#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"
#include "report/shard.hpp"
#include "store/merge.hpp"

namespace fatune {

/// A store's bytes, as one file.
struct Delivery {
  std::vector<MergedStore> stores;
  std::string bytes;
};
/// Joins the stores on a local disk. Error as merge_stores().
[[nodiscard]] Delivery join_stores(const std::vector<std::filesystem::path>& stores,
                                   Mixture mixture);

/// Writes what a shard's store has to a folder that other machines see, and then the record that it
/// has ended. Error(io) when they cannot be written: then there is no new record.
void deliver_shard(const StoreOptions& store, const Shard& shard, ExitCode code,
                   const std::filesystem::path& records);

}  // namespace fatune
