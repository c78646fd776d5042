#include "app/run/known_peers.hpp"

#include <fmt/format.h>

#include "data/file_tree.hpp"
#include "data/json_file.hpp"
#include "results/other_outputs.hpp"

namespace fatune {

std::optional<PeerStudy> known_peers(const DeviceLimits& device) {
  const FileTree tree;
  const std::string path = fmt::format("configs/peers/{}.json", file_name_part(device.name));
  return tree.contains(path)
             ? std::optional(read_peers(load_json(tree, path, "compare_peers").root()))
             : std::nullopt;
}

}  // namespace fatune
