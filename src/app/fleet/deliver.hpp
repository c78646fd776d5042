#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/error.hpp"
#include "report/shard.hpp"
#include "store/merge.hpp"

namespace fatune {

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
