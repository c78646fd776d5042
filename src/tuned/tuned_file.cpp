#include "tuned/tuned_file.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "core/error.hpp"
#include "data/device_file.hpp"
#include "data/kernel_time_node.hpp"
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

/// Adds the problems of one run to a table.
class RunReader {
 public:
  RunReader(const JsonNode& run, const KernelsAtHand& kernels, TunedTable& table)
      : kernels_(kernels),
        family_(run.at("family").text()),
        sources_(sources_of(run)),
        table_(table) {}

  /// `results`: of the problem, best first.
  void add(const JsonNode& problem, const std::vector<JsonNode>& results, const GpuModel& gpu);
  /// Adds to the problem's row the configurations that rules had dropped and that were raced with
  /// its winner. `report`: of that race, which may be a further one, for a cover.
  void add_audited(const JsonNode& report, const GpuModel& gpu);

 private:
  using Parsed = std::variant<Config, std::string>;  ///< or why it cannot be used

  void skip(const std::string& config, const std::string& reason) {
    table_.skipped.push_back({table_.origins.back().name, problem_, config, reason});
  }
  [[nodiscard]] std::string family_of(const JsonNode& result) const {
    return text_or(result, "family", family_);
  }
  Parsed parse(const std::string& family_name, const std::string& text) const;
  /// As parse(), but remembers the result.
  const Parsed& parsed(const std::string& family_name, const std::string& text);
  std::optional<TunedTime> time_of(const JsonNode& result);
  TunedProblem* find_row(const Problem& problem, const GpuModel& gpu);

  const KernelsAtHand& kernels_;
  std::string family_;    ///< of results that name none, as in older files
  SourceHashes sources_;  ///< sources that the run was measured with; empty in older files
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

/// The time without its regret. Returns nothing if it cannot be used.
std::optional<TunedTime> RunReader::time_of(const JsonNode& result) {
  const std::string text = result.at("config").text();
  const Parsed& known = parsed(family_of(result), text);
  if (const auto* why = std::get_if<std::string>(&known)) {
    skip(text, *why);
    return std::nullopt;
  }
  const JsonNode tie_group = result.at("tie_group");
  return TunedTime{
      .config = std::get<Config>(known),
      .short_form = text,
      .time_us = read_kernel_time(result.at("time_us")),
      .tie_group = static_cast<int>(tie_group.raw().is_null() ? 0 : tie_group.integer()),
      .verified = text_or(result, "verified", {}),
      .sources_recorded = sources_.contains(family_of(result))};
}

void set_regrets(double fastest_us, std::vector<TunedTime>& times) {
  for (TunedTime& time : times) {
    time.regret_percent = std::max(0.0, 100.0 * (time.time_us / fastest_us - 1.0));
  }
}

/// Inserts a time and keeps the order of the ranked ones. The added time gets a tie group of its
/// own, because it was not compared with them.
void insert_time(TunedTime added, std::vector<TunedTime>& times) {
  added.tie_group = 1 + std::ranges::max(times, {}, &TunedTime::tie_group).tie_group;
  const auto place = std::ranges::find_if(
      times, [&](const TunedTime& time) { return time.time_us > added.time_us; });
  times.insert(place, std::move(added));
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
  for (const JsonNode& result : results) {
    if (auto time = time_of(result)) {
      row.times.push_back(*std::move(time));
    }
  }
  set_regrets(read_kernel_time(results.front().at("time_us")), row.times);
  if (!row.times.empty()) {
    table_.problems.push_back(std::move(row));
  }
}

/// Finds the problem's row of this run. Returns null if there is none.
TunedProblem* RunReader::find_row(const Problem& problem, const GpuModel& gpu) {
  const auto found = std::ranges::find_if(table_.problems, [&](const TunedProblem& row) {
    return row.origin == table_.origins.size() - 1 && row.gpu == gpu && row.problem == problem;
  });
  return found == table_.problems.end() ? nullptr : &*found;
}

void RunReader::add_audited(const JsonNode& report, const GpuModel& gpu) {
  TunedProblem* const row = find_row(read_problem(report.at("problem")), gpu);
  const std::vector<JsonNode> ranking = report.at("ranking").elements();
  if (row == nullptr || ranking.empty()) {
    return;
  }
  const auto winner =
      std::ranges::find(row->times, ranking.front().at("config").text(), &TunedTime::short_form);
  if (winner == row->times.end()) {
    return;
  }
  const double scale = winner->time_us / read_kernel_time(ranking.front().at("time_us"));
  for (const JsonNode& result : report.at("audited").elements()) {
    auto time = result.at("time_us").raw().is_null() ? std::nullopt : time_of(result);
    if (time && row->find(time->config) == row->times.end()) {
      time->time_us *= scale;
      insert_time(*std::move(time), row->times);
    }
  }
  set_regrets(row->times.front().time_us, row->times);
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

/// As is_cover_race(const ProblemReport&).
bool is_cover_race(const JsonNode& problem) {
  const auto run = problem.find("run");
  return run && run->integer() > 1 && problem.at("pruned").integer() > 0;
}

void add_results(const JsonNode& run, RunReader& reader, TunedTable& table) {
  const GpuModel model = add_gpu(run.at("device"), table);
  for (const JsonNode& problem : run.at("problems").elements()) {
    if (!is_cover_race(problem)) {
      reader.add(problem.at("problem"), problem.at("ranking").elements(), model);
    }
    if (problem.find("audited")) {
      reader.add_audited(problem, model);
    }
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
