#include "tuned/tuned_table.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace fatune {
namespace {

Problem without_scale(Problem problem) {
  problem.softmax_scale = usual_softmax_scale(problem.d_head);
  return problem;
}

double winner_us(const TunedProblem& row) { return row.times.front().time_us; }

bool before(const TunedProblem& a, const TunedProblem& b) {
  const auto key = [](const TunedProblem& row) {
    const Problem& p = row.problem;
    return std::tuple(row.gpu, p.dtype, p.d_head, p.causal, p.seq_len, without_scale(p),
                      winner_us(row), row.origin);
  };
  return key(a) < key(b);
}

bool clash(const TunedProblem& a, const TunedProblem& b) {
  return a.gpu == b.gpu && same_work(a.problem, b.problem);
}

/// The properties of problems for which defaults are chosen.
using DefaultKey = std::tuple<GpuModel, DType, std::int64_t, std::int64_t, bool>;

DefaultKey default_key(const TunedProblem& row) {
  const Problem& problem = row.problem;
  return {row.gpu, problem.dtype, problem.d_head, problem.d_head_v, problem.causal};
}

using Rows = std::vector<const TunedProblem*>;

/// The times of one configuration on a group of rows.
struct Standing {
  const TunedTime* time = nullptr;
  std::size_t rows = 0;
  double log_slowdowns = 0.0;  ///< their sum
  double worst_percent = 0.0;

  void add(const TunedTime& measured) {
    time = &measured;
    ++rows;
    log_slowdowns += std::log1p(measured.regret_percent / 100.0);
    worst_percent = std::max(worst_percent, measured.regret_percent);
  }
  [[nodiscard]] double mean_log() const { return log_slowdowns / static_cast<double>(rows); }
};

bool is_better(const Standing& a, const Standing& b) {
  const auto key = [](const Standing& standing) {
    return std::tuple(-static_cast<double>(standing.rows), standing.mean_log(),
                      standing.worst_percent);
  };
  return key(a) < key(b);
}

/// The best configuration of each family, by the family's name.
std::map<std::string, Standing> best_of_families(const Rows& rows) {
  std::map<Config, Standing> standings;
  for (const TunedProblem* row : rows) {
    for (const TunedTime& time : row->times) {
      standings[time.config].add(time);
    }
  }
  std::map<std::string, Standing> best;
  for (const auto& [config, standing] : standings) {
    const auto [known, is_new] = best.try_emplace(config.family, standing);
    if (!is_new && is_better(standing, known->second)) {
      known->second = standing;
    }
  }
  return best;
}

DefaultConfig default_of(const Standing& best, const Rows& rows) {
  const TunedProblem& row = *rows.front();
  return {.gpu = row.gpu,
          .dtype = row.problem.dtype,
          .d_head = row.problem.d_head,
          .d_head_v = row.problem.d_head_v,
          .causal = row.problem.causal,
          .config = best.time->config,
          .short_form = best.time->short_form,
          .problems = rows.size(),
          .measured_on = best.rows,
          .mean_regret_percent = 100.0 * std::expm1(best.mean_log()),
          .worst_regret_percent = best.worst_percent};
}

std::vector<DefaultConfig> choose_defaults(const std::vector<TunedProblem>& problems) {
  std::map<DefaultKey, Rows> groups;
  for (const TunedProblem& row : problems) {
    groups[default_key(row)].push_back(&row);
  }
  std::vector<DefaultConfig> defaults;
  for (const auto& [key, rows] : groups) {
    for (const auto& [family, best] : best_of_families(rows)) {
      defaults.push_back(default_of(best, rows));
    }
  }
  return defaults;
}

}  // namespace

GpuModel model_of(const DeviceLimits& limits) {
  return {limits.name, limits.arch, limits.sm_count};
}

bool same_work(const Problem& a, const Problem& b) { return without_scale(a) == without_scale(b); }

void finish_table(TunedTable& table) {
  std::ranges::sort(table.problems, before);
  auto& rows = table.problems;
  rows.erase(std::unique(rows.begin(), rows.end(), clash), rows.end());
  table.defaults = choose_defaults(table.problems);
}

TunedTable without_row(const TunedTable& table, std::size_t row) {
  TunedTable rest = table;
  rest.problems.erase(rest.problems.begin() + static_cast<std::ptrdiff_t>(row));
  rest.defaults = choose_defaults(rest.problems);
  return rest;
}

}  // namespace fatune
