#include "app/run/best_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/device_limits.hpp"
#include "core/error.hpp"
#include "core/is_among.hpp"
#include "data/device_file.hpp"
#include "data/json_file.hpp"
#include "data/kernel_time_node.hpp"
#include "plan/problem_json.hpp"
#include "tuned/tuned_file.hpp"

namespace fatune {
namespace {

std::optional<double> measured_us(const JsonNode& winner) {
  const JsonNode time = winner.at("time_us");
  return winner.at("measured").boolean() && time.raw().is_number()
             ? std::optional(read_kernel_time(time))
             : std::nullopt;
}

/// Older files have one family, which their winners do not repeat.
std::string family_of(const JsonNode& winner, const BestFile& file) {
  const auto family = winner.find("family");
  return family ? family->text() : file.family;
}

void add_winner(const JsonNode& node, BestFile& file) {
  const JsonNode winner = node.at("winner");
  if (winner.raw().is_null()) {
    return;
  }
  KnownWinner known{read_problem(node.at("problem")), family_of(winner, file),
                    winner.at("config").text(), measured_us(winner)};
  const bool is_new = !is_among(known.problem, file.winners, &KnownWinner::problem);
  if (is_new) {
    file.winners.push_back(std::move(known));
  }
}

std::string model_of(const JsonNode& gpu) { return gpu.at("device").at("name").text(); }

/// Returns `device` if the file has it or has no GPU, else the file's first model.
std::string choose_model(const std::vector<JsonNode>& gpus, const std::string& device) {
  const bool known =
      std::ranges::any_of(gpus, [&](const JsonNode& gpu) { return model_of(gpu) == device; });
  return known || gpus.empty() ? device : model_of(gpus.front());
}

/// Older files have the driver's CUDA version in place of its release.
WinnerOrigin origin_of(const std::string& device, const JsonNode& toolchain) {
  const std::string driver = toolchain.at("driver").text();
  const auto cuda = toolchain.find("driver_cuda");
  return cuda ? WinnerOrigin{device, driver, cuda->text()} : WinnerOrigin{device, {}, driver};
}

BestFile parse_best_file(const JsonFile& json, const std::string& device) {
  const JsonNode root = json.root();
  const std::vector<JsonNode> gpus = root.at("gpus").elements();
  BestFile file{root.at("family").text(),
                root.at("space").text(),
                origin_of(choose_model(gpus, device), root.at("toolchain")),
                root.at("measured").boolean(),
                {}};
  for (const JsonNode& gpu : gpus) {
    if (model_of(gpu) != file.origin.device) {
      continue;
    }
    for (const JsonNode& problem : gpu.at("problems").elements()) {
      add_winner(problem, file);
    }
  }
  if (file.winners.empty()) {
    throw Error(ExitCode::bad_file, "it names no winner", json.origin(),
                "give a best_configs.json that a sweep has written");
  }
  return file;
}

std::string shipped_path(const std::string& device) {
  return fmt::format("{}{}.json", kShippedWinners, file_name_part(device));
}

}  // namespace

std::vector<DeviceLimits> shipped_gpus(const FileTree& tree) {
  std::vector<DeviceLimits> gpus;
  for (const std::string& path : tree.list(kShippedWinners)) {
    const JsonFile file = load_json(tree, path, "best_configs");
    for (const JsonNode& gpu : file.root().at("gpus").elements()) {
      gpus.push_back(read_device_limits(gpu.at("device")));
    }
  }
  return gpus;
}

BestFile read_best_file(const FileTree& tree, const std::filesystem::path& path,
                        const std::string& device) {
  return parse_best_file(load_json_from_disk(tree, path, "best_configs"), device);
}

BestFile named_best_file(const FileTree& tree, const std::filesystem::path& name,
                         const std::string& device) {
  if (std::error_code ignored; !std::filesystem::exists(name, ignored)) {
    if (const auto gpu = find_device(shipped_gpus(tree), name.string(), "FILE|GPU")) {
      return shipped_best_file(tree, *gpu);
    }
  }
  return read_best_file(tree, name, device);
}

BestFile shipped_best_file(const FileTree& tree, const DeviceLimits& device) {
  const std::string path = shipped_path(device.name);
  if (!tree.contains(path)) {
    const auto nearest = nearest_device(shipped_gpus(tree), device);
    throw Error(ExitCode::usage, fmt::format("fatune ships no winners for {}", device.name), "FILE",
                "give a best_configs.json that a sweep has written" +
                    (nearest ? fmt::format("; or try those of the nearest GPU, {}: fatune "
                                           "verify-winner {}",
                                           nearest->name, file_name_part(nearest->name))
                             : ""));
  }
  return parse_best_file(load_json(tree, path, "best_configs"), device.name);
}

}  // namespace fatune
