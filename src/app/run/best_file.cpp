#include "app/run/best_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/device_limits.hpp"
#include "core/error.hpp"
#include "core/is_among.hpp"
#include "results/results_file.hpp"
#include "tuned/tuned_file.hpp"

namespace fatune {
namespace {

KnownWinner winner_of(const ProblemReport& report) {
  const Result& winner = report.ranking.front();
  const bool measured = std::holds_alternative<Measured>(winner.outcome);
  return {report.problem, winner.config.family, winner.short_form,
          measured ? std::optional(ranked_us(winner.outcome)) : std::nullopt};
}

/// Adds the winners of a run for problems that have none yet.
void add_winners(const RunReport& run, std::vector<KnownWinner>& winners) {
  for (const ProblemReport& report : run.problems) {
    if (!report.ranking.empty() && !is_among(report.problem, winners, &KnownWinner::problem)) {
      winners.push_back(winner_of(report));
    }
  }
}

/// Returns `device` if the file has it or has no GPU, else the file's first model.
std::string choose_model(const std::vector<RunReport>& runs, const std::string& device) {
  const bool known =
      std::ranges::any_of(runs, [&](const RunReport& run) { return run.device.name == device; });
  return known || runs.empty() ? device : runs.front().device.name;
}

BestFile best_file_of(const std::vector<RunReport>& runs, const std::string& origin,
                      const std::string& device) {
  BestFile file;
  const std::string model = choose_model(runs, device);
  for (const RunReport& run : runs) {
    if (run.device.name == model) {
      if (file.winners.empty()) {
        file = {run.family,
                run.space,
                {model, run.toolchain.driver_release, run.toolchain.driver_version},
                run.measured,
                {}};
      }
      add_winners(run, file.winners);
    }
  }
  if (file.winners.empty()) {
    throw Error(ExitCode::bad_file, "it names no winner", origin,
                "give a best_configs.json that a sweep has written");
  }
  return file;
}

std::vector<RunReport> shipped_runs(const FileTree& tree, const std::string& path) {
  return read_results_text(tree.read(path), path);
}

std::string shipped_path(const std::string& device) {
  return fmt::format("{}{}.json", kShippedWinners, file_name_part(device));
}

}  // namespace

std::vector<DeviceLimits> shipped_gpus(const FileTree& tree) {
  std::vector<DeviceLimits> gpus;
  for (const std::string& path : tree.list(kShippedWinners)) {
    for (const RunReport& run : shipped_runs(tree, path)) {
      gpus.push_back(run.device);
    }
  }
  return gpus;
}

BestFile read_best_file(const std::filesystem::path& path, const std::string& device) {
  return best_file_of(read_results(path), path.string(), device);
}

BestFile named_best_file(const FileTree& tree, const std::filesystem::path& name,
                         const std::string& device) {
  if (std::error_code ignored; !std::filesystem::exists(name, ignored)) {
    if (const auto gpu = find_device(shipped_gpus(tree), name.string(), "FILE|GPU")) {
      return shipped_best_file(tree, *gpu);
    }
  }
  return read_best_file(name, device);
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
  return best_file_of(shipped_runs(tree, path), path, device.name);
}

}  // namespace fatune
