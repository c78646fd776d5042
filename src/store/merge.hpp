#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "store/database.hpp"

namespace fatune {

/// What became of the runs of one store that was merged into another.
struct MergedStore {
  std::filesystem::path file;
  std::int64_t added = 0;
  std::int64_t renewed = 0;             ///< were there already, and had less
  std::int64_t known = 0;               ///< were there already
  std::int64_t outcomes = 0;            ///< of those that were added or renewed
  std::vector<std::int64_t> damaged{};  ///< numbers in that store of runs that are left out
};

enum class Mixture {
  refused,  ///< all runs are of one GPU model, driver and policy, else Error(usage)
  grouped,  ///< any
};

/// Adds the runs of other stores to `target`, with everything that belongs to them: all of them, or
/// none and an Error, also when the process is killed. A run that the target has already stays as
/// it is, unless it was going on then and has more now. The stores' files are read only, unless an
/// older fatune made them: they are brought to this one's schema. Error as open_store().
[[nodiscard]] std::vector<MergedStore> merge_stores(
    Database& target, const std::vector<std::filesystem::path>& stores, Mixture mixture);

}  // namespace fatune
