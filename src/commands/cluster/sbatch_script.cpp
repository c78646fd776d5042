#include "commands/cluster/sbatch_script.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/text_parts.hpp"

namespace fatune {
namespace {

using Words = std::vector<std::string>;

std::string command(const Words& words) { return joined(words, " ", shell_word) + "\n"; }

/// Returns a line that sbatch reads. It takes quotes as a shell does, but a value cannot span
/// lines.
std::string setting(const std::string& option, const std::string& value) {
  const auto is_control = [](unsigned char c) { return c < ' '; };
  if (std::ranges::any_of(option + value, is_control)) {
    throw Error(ExitCode::usage, "a job script cannot contain a control character", option,
                "sbatch reads these options line by line");
  }
  return "#SBATCH " + option + (value.empty() ? "" : "=" + shell_word(value)) + "\n";
}

/// Returns the head of a script. `log`: the log's name, in which Slurm inserts the job's number.
std::string head(const SbatchSettings& settings, const char* job, const char* log) {
  const std::string folder = settings.folder.string();
  if (folder.find_first_of("%\\") != std::string::npos) {
    throw Error(ExitCode::usage, "Slurm replaces what follows % and \\ in the names of logs",
                folder, "name a folder without them");
  }
  return "#!/bin/bash\n" +
         setting("--job-name", fmt::format("fatune-{}-{}", settings.plan.name, job)) +
         setting("--chdir", settings.start.string()) +
         setting("--output", (settings.folder / "logs" / log).string());
}

std::string further(const SbatchSettings& settings) {
  std::string lines;
  for (const std::string& option : settings.more) {
    const std::size_t equals = option.find('=');
    lines += setting(option.substr(0, equals),
                     equals == std::string::npos ? std::string() : option.substr(equals + 1));
  }
  return lines;
}

std::string import_line(const SbatchSettings& settings) {
  if (settings.bundles.empty()) {
    return {};
  }
  Words words{settings.program.string(), "cache", "import", "--quiet"};
  for (const auto& bundle : settings.bundles) {
    words.push_back(bundle.string());
  }
  return command(words);
}

/// Returns the options of a shard's `fatune sweep`, except for --shard.
std::vector<std::string> shard_options(const SbatchSettings& settings) {
  Words words = settings.sweep;
  words.insert(words.end(), {"--fleet", settings.plan.name, "--record",
                             records_folder(settings.folder).string()});
  return words;
}

}  // namespace

std::string array_text(const std::vector<int>& numbers, const FleetPlan& plan) {
  const bool all = std::ssize(numbers) == plan.shards;
  const std::string list =
      all ? fmt::format("1-{}", plan.shards)
          : joined(numbers, ",", [](int number) { return std::to_string(number); });
  return plan.limit > 0 ? fmt::format("{}%{}", list, plan.limit) : list;
}

std::string array_script(const SbatchSettings& settings) {
  std::vector<int> all(static_cast<std::size_t>(settings.plan.shards));
  std::string script =
      head(settings, "shards", "%A_%a.log") + setting("--array", array_text(all, settings.plan));
  script += settings.gres ? setting("--gres", *settings.gres) : "";
  script += settings.constraint ? setting("--constraint", *settings.constraint) : "";
  script += further(settings);
  Words sweep{settings.program.string(), "sweep"};
  for (const std::string& option : shard_options(settings)) {
    sweep.push_back(option);
  }
  const std::string sweep_words = joined(sweep, " ", shell_word);
  return script +
         "set -eu\n"
         "scratch=$(mktemp -d)\n"
         "trap 'rm -rf \"$scratch\"' EXIT\n" +
         import_line(settings) + sweep_words + " \\\n  --shard \"$SLURM_ARRAY_TASK_ID\"/" +
         std::to_string(settings.plan.shards) + " --db \"$scratch\"/shard.db\n";
}

std::string merge_script(const SbatchSettings& settings) {
  return head(settings, "merge", "merge_%j.log") + "set -eu\n" +
         command({settings.program.string(), "cluster", "merge", settings.folder.string()});
}

std::string report_script(const SbatchSettings& settings) {
  return head(settings, "report", "report_%j.log") + "set -eu\n" +
         command({settings.program.string(), "report", "last", "--db",
                  (settings.folder / "merged.db").string(), "--out",
                  (settings.folder / "report.html").string()});
}

}  // namespace fatune
