#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "store/database.hpp"

namespace fatune {

/// The result of merging the runs of one store into another.
struct MergedStore {
  std::filesystem::path file;
  std::int64_t added = 0;
  std::int64_t renewed = 0;             ///< already in the target, with less content
  std::int64_t known = 0;               ///< already in the target
  std::int64_t outcomes = 0;            ///< outcomes of the added and renewed runs
  std::vector<std::int64_t> damaged{};  ///< numbers, in that store, of runs that are left out
};

enum class Mixture {
  refused,  ///< all runs have the same GPU model, driver and policy, else Error(usage)
  grouped,  ///< any runs
};

/// Adds the runs of other stores to `target`, with everything that belongs to them. Adds all of
/// them, or adds none and throws an Error; a killed process adds none. A run that the target
/// already has stays as it is, unless it was still going on then and has more data now. The stores
/// are only read. Throws the errors of open_store().
[[nodiscard]] std::vector<MergedStore> merge_stores(
    Database& target, const std::vector<std::filesystem::path>& stores, Mixture mixture);

}  // namespace fatune
