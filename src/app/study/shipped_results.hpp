#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/study/study_inputs.hpp"
#include "core/device_limits.hpp"
#include "data/file_tree.hpp"
#include "report/report.hpp"
#include "study/others.hpp"

namespace fatune {

/// The GPUs that fatune ships results of.
[[nodiscard]] std::vector<DeviceLimits> shipped_gpus(const FileTree& tree);

/// Returns what fatune ships for `device`. Throws Error(usage) if that is nothing, and offers the
/// results of the nearest GPU.
[[nodiscard]] InputRuns shipped_results(const FileTree& tree, const DeviceLimits& device);

/// Returns what fatune ships for the GPU that `name` names, as find_device() finds it. Nothing:
/// there is none. `where`: where the name is from, for errors.
[[nodiscard]] std::optional<InputRuns> shipped_results(const FileTree& tree,
                                                       const std::string& name,
                                                       const std::string& where);

/// Reads how other implementations of attention did beside the winners that fatune ships for this
/// GPU model (configs/peers). Nothing if it ships no such file.
[[nodiscard]] std::optional<PeerStudy> known_peers(const DeviceLimits& device);

}  // namespace fatune
