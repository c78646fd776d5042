#include "choose/tuned_file.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/error.hpp"
#include "model/kv_pages.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

TunedOrigin origin_of(const RunReport& run, const std::string& name) {
  return {name,
          run.started_at,
          run.toolchain.fatune_version,
          run.toolchain.nvrtc_version,
          run.toolchain.driver_release,
          run.complete};
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

/// Adds the problems of one run to a table.
class RunReader {
 public:
  RunReader(const RunReport& run, const KernelsAtHand& kernels, TunedTable& table)
      : kernels_(kernels), sources_(run.source_hashes), gpu_(model_of(run.device)), table_(table) {}

  void add(const ProblemReport& report) {
    TunedProblem row{gpu_,         report.problem,    {}, table_.origins.size() - 1,
                     report.calls, report.more_ranked};
    problem_ = describe(row.problem);
    if (report.ranking.empty()) {
      return skip({}, "no configuration is ranked");
    }
    if (!row.problem.seq_lens_kv.empty()) {
      return skip({},
                  "its lengths of keys differ within the batch: tuned tables have no such rows");
    }
    if (has_pages(row.problem)) {
      return skip({}, "its K and V are in pages: tuned tables have no such rows");
    }
    if (is_packed(row.problem)) {
      return skip({}, "its batch is packed: tuned tables have no such rows");
    }
    if (row.problem.latent) {
      return skip({}, "its V is columns of K: tuned tables have no such rows");
    }
    if (has_query_scales(row.problem)) {
      return skip({}, "its Q, K and V have 8 bits: tuned tables have no such rows");
    }
    if (!std::holds_alternative<Measured>(report.ranking.front().outcome)) {
      return skip({}, "its times are estimates");
    }
    for (const Result& result : report.ranking) {
      if (auto time = time_of(result)) {
        row.times.push_back(*std::move(time));
      }
    }
    set_regrets(ranked_us(report.ranking.front().outcome), row.times);
    if (!row.times.empty()) {
      table_.problems.push_back(std::move(row));
    }
  }

  /// Adds to the problem's row the configurations that rules had dropped and that were raced with
  /// its winner. The race may be a further one, for a cover.
  void add_audited(const ProblemReport& race) {
    TunedProblem* const row = find_row(race.problem);
    if (row == nullptr || race.ranking.empty()) {
      return;
    }
    const Result& fastest = race.ranking.front();
    const auto winner = std::ranges::find(row->times, fastest.short_form, &TunedTime::short_form);
    if (winner == row->times.end()) {
      return;
    }
    const double scale = winner->time_us / ranked_us(fastest.outcome);
    for (const Result& result : race.audited) {
      auto time = is_ranked(result.outcome) ? time_of(result) : std::nullopt;
      if (time && row->find(time->config) == row->times.end()) {
        time->time_us *= scale;
        insert_time(*std::move(time), row->times);
      }
    }
    set_regrets(row->times.front().time_us, row->times);
  }

 private:
  using Parsed = std::variant<Config, std::string>;  ///< or why it cannot be used

  void skip(const std::string& config, const std::string& reason) {
    table_.skipped.push_back({table_.origins.back().name, problem_, config, reason});
  }
  RunReader::Parsed parse(const std::string& family_name, const std::string& text) const {
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

  /// As parse(), but remembers the result.
  const RunReader::Parsed& parsed(const std::string& family_name, const std::string& text) {
    const auto [found, is_new] = parsed_.try_emplace({family_name, text});
    if (is_new) {
      found->second = parse(family_name, text);
    }
    return found->second;
  }

  /// The time without its regret. Returns nothing if it cannot be used.
  std::optional<TunedTime> time_of(const Result& result) {
    const Parsed& known = parsed(result.config.family, result.short_form);
    if (const auto* why = std::get_if<std::string>(&known)) {
      skip(result.short_form, *why);
      return std::nullopt;
    }
    TunedTime time{.config = std::get<Config>(known),
                   .short_form = result.short_form,
                   .time_us = ranked_us(result.outcome),
                   .tie_group = result.tie_group,
                   .verified = std::string(verified_by(result.outcome)),
                   .sources_recorded = sources_.contains(result.config.family)};
    if (const auto* measured = std::get_if<Measured>(&result.outcome)) {
      time.samples = measured->timing.sample_count;
      time.stddev_us = measured->timing.stddev_us;
    }
    return time;
  }

  /// Finds the problem's row of this run. Returns null if there is none.
  TunedProblem* find_row(const Problem& problem) {
    const auto found = std::ranges::find_if(table_.problems, [&](const TunedProblem& row) {
      return row.origin == table_.origins.size() - 1 && row.problem == problem;
    });
    return found == table_.problems.end() ? nullptr : &*found;
  }

  const KernelsAtHand& kernels_;
  const SourceHashes& sources_;  ///< sources that the run was measured with; empty: not known
  GpuModel gpu_;
  TunedTable& table_;
  std::string problem_;
  std::map<std::pair<std::string, std::string>, Parsed> parsed_;
};

}  // namespace

void add_tuned(const RunReport& run, const std::string& name, const KernelsAtHand& kernels,
               TunedTable& table) {
  table.origins.push_back(origin_of(run, name));
  table.gpus.try_emplace(model_of(run.device), run.device);
  RunReader reader(run, kernels, table);
  for (const ProblemReport& report : run.problems) {
    if (!is_cover_race(report)) {
      reader.add(report);
    }
    reader.add_audited(report);
  }
}

}  // namespace fatune
