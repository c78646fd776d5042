#include "app/study/shipped_results.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "data/file_tree.hpp"
#include "data/json_file.hpp"
#include "results/other_outputs.hpp"
#include "results/results_file.hpp"
#include "tuned/tuned_file.hpp"

namespace fatune {

std::vector<DeviceLimits> shipped_gpus(const FileTree& tree) {
  std::vector<DeviceLimits> gpus;
  for (const std::string& path : tree.list(kShippedWinners)) {
    for (const RunReport& run : read_results_text(tree.read(path), tree.origin(path))) {
      gpus.push_back(run.device);
    }
  }
  return gpus;
}

InputRuns shipped_results(const FileTree& tree, const DeviceLimits& device) {
  const std::string path = fmt::format("{}{}.json", kShippedWinners, file_name_part(device.name));
  if (!tree.contains(path)) {
    const auto nearest = nearest_device(shipped_gpus(tree), device);
    throw Error(ExitCode::usage, fmt::format("fatune ships no winners for {}", device.name), "FILE",
                "give a best_configs.json that a sweep has written" +
                    (nearest ? fmt::format("; or try those of the nearest GPU, {}: fatune "
                                           "verify-winner {}",
                                           nearest->name, file_name_part(nearest->name))
                             : ""));
  }
  return {"what fatune ships", read_results_text(tree.read(path), tree.origin(path)), true};
}

std::optional<InputRuns> shipped_results(const FileTree& tree, const std::string& name,
                                         const std::string& where) {
  const std::optional<DeviceLimits> device = find_device(shipped_gpus(tree), name, where);
  return device ? std::optional(shipped_results(tree, *device)) : std::nullopt;
}

std::optional<PeerStudy> known_peers(const DeviceLimits& device) {
  const FileTree tree;
  const std::string path = fmt::format("configs/peers/{}.json", file_name_part(device.name));
  return tree.contains(path)
             ? std::optional(read_peers(load_json(tree, path, "compare_peers").root()))
             : std::nullopt;
}

}  // namespace fatune
