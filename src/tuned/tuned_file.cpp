#include "tuned/tuned_file.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "core/error.hpp"
#include "data/device_file.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "plan/problem_json.hpp"

namespace fatune {
namespace {

std::string text_or(const JsonNode& node, const char* key, const std::string& otherwise) {
  const auto found = node.find(key);
  return found && !found->raw().is_null() ? found->text() : otherwise;
}

TunedOrigin origin_of(const JsonNode& run, const std::string& name) {
  const JsonNode toolchain = run.at("toolchain");
  return {name,
          run.at("started_at").text(),
          toolchain.at("fatune").text(),
          text_or(toolchain, "nvrtc", {}),
          text_or(toolchain, "driver", {}),
          run.at("complete").boolean()};
}

SourceHashes sources_of(const JsonNode& run) {
  SourceHashes hashes;
  if (const auto given = run.find("source_hashes")) {
    for (const auto& [family, hash] : given->members()) {
      hashes[family] = hash.text();
    }
  }
  return hashes;
}

/// One run's problems on one GPU.
class RunReader {
 public:
  RunReader(const JsonNode& run, const KernelsAtHand& kernels, TunedTable& table)
      : kernels_(kernels),
        family_(run.at("family").text()),
        sources_(sources_of(run)),
        table_(table) {}

  /// `results`: of a problem, best first.
  void add(const JsonNode& problem, const std::vector<JsonNode>& results, const GpuModel& gpu);

 private:
  using Parsed = std::variant<Config, std::string>;  ///< or why it cannot be used

  void skip(const std::string& config, const std::string& reason) {
    table_.skipped.push_back({table_.origins.back().name, problem_, config, reason});
  }
  [[nodiscard]] std::string family_of(const JsonNode& result) const {
    return text_or(result, "family", family_);
  }
  Parsed parse(const std::string& family_name, const std::string& text) const;
  /// parse(), and remembers what came of it.
  const Parsed& parsed(const std::string& family_name, const std::string& text);
  void add_time(const JsonNode& result, double fastest_us, std::vector<TunedTime>& times);

  const KernelsAtHand& kernels_;
  std::string family_;    ///< of results that name none, as in older files
  SourceHashes sources_;  ///< that the run was measured with; empty in older files
  TunedTable& table_;
  std::string problem_;
  std::map<std::pair<std::string, std::string>, Parsed> parsed_;
};

RunReader::Parsed RunReader::parse(const std::string& family_name, const std::string& text) const {
  const Family* const family = kernels_.families.find(family_name);
  if (family == nullptr) {
    return "there is no kernel family " + family_name;
  }
  if (const auto measured = sources_.find(family_name);
      measured != sources_.end() && measured->second != kernels_.source_hashes.at(family_name)) {
    return "it was measured with other sources of " + family_name;
  }
  try {
    Config config = parse_config(*family, text);
    if (const auto invalid = check_valid(*family, config)) {
      return invalid->reason;
    }
    return config;
  } catch (const Error& error) {
    return error.what_was_wrong();
  }
}

const RunReader::Parsed& RunReader::parsed(const std::string& family_name,
                                           const std::string& text) {
  const auto [found, is_new] = parsed_.try_emplace({family_name, text});
  if (is_new) {
    found->second = parse(family_name, text);
  }
  return found->second;
}

void RunReader::add_time(const JsonNode& result, double fastest_us, std::vector<TunedTime>& times) {
  const std::string text = result.at("config").text();
  const Parsed& known = parsed(family_of(result), text);
  if (const auto* why = std::get_if<std::string>(&known)) {
    return skip(text, *why);
  }
  const double time_us = result.at("time_us").number();
  const JsonNode tie_group = result.at("tie_group");
  times.push_back(
      {.config = std::get<Config>(known),
       .short_form = text,
       .time_us = time_us,
       .regret_percent = std::max(0.0, 100.0 * (time_us / fastest_us - 1.0)),
       .tie_group = static_cast<int>(tie_group.raw().is_null() ? 0 : tie_group.integer()),
       .verified = text_or(result, "verified", {}),
       .sources_recorded = sources_.contains(family_of(result))});
}

void RunReader::add(const JsonNode& problem, const std::vector<JsonNode>& results,
                    const GpuModel& gpu) {
  TunedProblem row{gpu, read_problem(problem), {}, table_.origins.size() - 1};
  problem_ = describe(row.problem);
  if (results.empty()) {
    return skip({}, "no configuration is ranked");
  }
  if (!results.front().at("measured").boolean()) {
    return skip({}, "its times are estimates");
  }
  const double fastest_us = results.front().at("time_us").number();
  for (const JsonNode& result : results) {
    add_time(result, fastest_us, row.times);
  }
  if (!row.times.empty()) {
    table_.problems.push_back(std::move(row));
  }
}

GpuModel add_gpu(const JsonNode& device, TunedTable& table) {
  const DeviceLimits limits = read_device_limits(device);
  GpuModel model = model_of(limits);
  table.gpus.try_emplace(model, limits);
  return model;
}

/// The winner and the runners-up.
std::vector<JsonNode> best_of(const JsonNode& problem) {
  if (problem.at("winner").raw().is_null()) {
    return {};
  }
  std::vector<JsonNode> best{problem.at("winner")};
  std::ranges::copy(problem.at("runners_up").elements(), std::back_inserter(best));
  return best;
}

void add_best_configs(const JsonNode& file, RunReader& reader, TunedTable& table) {
  for (const JsonNode& gpu : file.at("gpus").elements()) {
    const GpuModel model = add_gpu(gpu.at("device"), table);
    for (const JsonNode& problem : gpu.at("problems").elements()) {
      reader.add(problem.at("problem"), best_of(problem), model);
    }
  }
}

void add_results(const JsonNode& run, RunReader& reader, TunedTable& table) {
  const GpuModel model = add_gpu(run.at("device"), table);
  for (const JsonNode& problem : run.at("problems").elements()) {
    reader.add(problem.at("problem"), problem.at("ranking").elements(), model);
  }
}

}  // namespace

void add_tuned(const JsonNode& document, const std::string& name, const KernelsAtHand& kernels,
               TunedTable& table) {
  if (const auto runs = document.find("runs")) {
    for (const JsonNode& run : runs->elements()) {
      add_tuned(run, name, kernels, table);
    }
    return;
  }
  table.origins.push_back(origin_of(document, name));
  RunReader reader(document, kernels, table);
  if (document.find("gpus")) {
    add_best_configs(document, reader, table);
  } else {
    add_results(document, reader, table);
  }
}

}  // namespace fatune
