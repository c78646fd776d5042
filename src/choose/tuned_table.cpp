#include "choose/tuned_table.hpp"

#include <cmath>
#include <iterator>
#include <set>
#include <tuple>

#include "base/ranges.hpp"
#include "choose/time_fit.hpp"
#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"

namespace fatune {
namespace {

Problem without_scale(Problem problem) {
  problem.softmax_scale = usual_softmax_scale(problem.d_head);
  return problem;
}

bool before(const TunedProblem& a, const TunedProblem& b) {
  const auto key = [](const TunedProblem& row) {
    const Problem& p = row.problem;
    return std::tuple(row.gpu, p.dtype, p.d_head, p.causal, p.seq_len, without_scale(p),
                      row.times.front().time_us, row.origin);
  };
  return key(a) < key(b);
}

bool clash(const TunedProblem& a, const TunedProblem& b) {
  return a.gpu == b.gpu && same_work(a.problem, b.problem);
}

/// The properties of problems for which defaults are chosen.
using DefaultKey = std::tuple<GpuModel, DType, std::int64_t, std::int64_t, bool, bool,
                              fatune_attention::KvDType, bool>;

DefaultKey default_key(const TunedProblem& row) {
  const Problem& problem = row.problem;
  const fatune_attention::Problem asked = runtime_problem(problem);
  const auto kv = fatune_attention::detail::kv_kind_of(asked);
  return {row.gpu,          problem.dtype,  problem.d_head,
          problem.d_head_v, problem.causal, fatune_attention::detail::has_few_queries(asked),
          kv.dtype,         kv.key_scales};
}

DefaultKey default_key(const DefaultConfig& known) {
  return {known.gpu,    known.dtype,       known.d_head,   known.d_head_v,
          known.causal, known.few_queries, known.kv.dtype, known.kv.key_scales};
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
          .few_queries = std::get<5>(default_key(row)),
          .kv = fatune_attention::detail::kv_kind_of(runtime_problem(row.problem)),
          .config = best.time->config,
          .short_form = best.time->short_form,
          .problems = rows.size(),
          .measured_on = best.rows,
          .mean_regret_percent = 100.0 * std::expm1(best.mean_log()),
          .worst_regret_percent = best.worst_percent};
}

/// The defaults of rows that have the same key.
std::vector<DefaultConfig> defaults_of(const Rows& rows) {
  return mapped(best_of_families(rows),
                [&](const auto& best) { return default_of(best.second, rows); });
}

std::vector<DefaultConfig> choose_defaults(const std::vector<TunedProblem>& problems) {
  std::map<DefaultKey, Rows> groups;
  for (const TunedProblem& row : problems) {
    groups[default_key(row)].push_back(&row);
  }
  std::vector<DefaultConfig> defaults;
  for (const auto& [key, rows] : groups) {
    append(defaults, defaults_of(rows));
  }
  return defaults;
}

/// Chooses the defaults for these problems again.
void replace_defaults(const DefaultKey& key, TunedTable& table) {
  const auto is_one = [&](const auto& of) { return default_key(of) == key; };
  Rows rows;
  for (const TunedProblem& row : table.problems) {
    if (is_one(row)) {
      rows.push_back(&row);
    }
  }
  const std::vector<DefaultConfig> chosen = defaults_of(rows);
  const auto place = std::ranges::find_if(table.defaults, is_one);
  const auto rest =
      table.defaults.erase(place, std::find_if_not(place, table.defaults.end(), is_one));
  table.defaults.insert(rest, chosen.begin(), chosen.end());
}

namespace runtime = fatune_attention::detail;

template <typename Item>
runtime::List<Item> list_of(const std::vector<Item>& items) {
  return {items.data(), static_cast<int>(items.size())};
}

}  // namespace

runtime::Kind kind_of(const TunedProblem& row) {
  return runtime::kind_of(runtime_problem(row.problem));
}

runtime::Kind kernel_kind(const TunedProblem& row) { return kernel_kind(kind_of(row)); }

runtime::Kind kernel_kind(const runtime::Kind& kind) {
  runtime::Kind alike = runtime::without_masks(kind);
  alike.front() = 0;  // the element type
  return alike;
}

Config with_rest_of(const TunedTable& table, Config config, const Config& other) {
  if (const auto* parameters = value_at(table.not_fitted, config.family)) {
    for (const std::size_t parameter : *parameters) {
      config.values.at(parameter) = other.values.at(parameter);
    }
  }
  return config;
}

Config without_rest(const TunedTable& table, const Config& config) {
  return with_rest_of(table, config,
                      {config.family, std::vector<std::int64_t>(config.values.size())});
}

bool same_work(const Problem& a, const Problem& b) { return without_scale(a) == without_scale(b); }

bool is_default_of(const DefaultConfig& known, const TunedProblem& row) {
  return default_key(known) == default_key(row);
}

void finish_table(TunedTable& table) {
  std::ranges::sort(table.problems, before);
  auto& rows = table.problems;
  for (std::size_t i = rows.size(); i-- > 1;) {  // calls of a row that goes stay with its problem
    if (clash(rows[i - 1], rows[i]) && !rows[i - 1].calls) {
      rows[i - 1].calls = rows[i].calls;
    }
  }
  rows.erase(std::unique(rows.begin(), rows.end(), clash), rows.end());
  table.defaults = choose_defaults(table.problems);
  table.fits = fit_times(table);
}

TunedTable without_row(const TunedTable& table, std::size_t row) {
  const TunedProblem& left_out = table.problems[row];
  const runtime::Kind kind = kernel_kind(left_out);
  TunedTable rest;
  rest.origins = table.origins;
  rest.gpus = table.gpus;
  rest.not_fitted = table.not_fitted;
  rest.defaults = table.defaults;
  rest.problems = filtered(table.problems, [&](const TunedProblem& other) {
    return !same_work(other.problem, left_out.problem) && kernel_kind(other) == kind;
  });
  replace_defaults(default_key(left_out), rest);
  std::set<std::pair<GpuModel, runtime::Kind>> tuned;
  for (const TunedProblem& other : rest.problems) {
    tuned.emplace(other.gpu, kind_of(other));
  }
  rest.fits = filtered(table.fits, [&](const FittedTime& fitted) {
    return fitted.gpu != left_out.gpu && tuned.contains({fitted.gpu, fitted.kind});
  });
  append(rest.fits, fit_times_without(rest, left_out));
  return rest;
}

fatune_attention::Problem runtime_problem(const Problem& problem) {
  fatune_attention::Problem made;
  made.dtype = static_cast<fatune_attention::DType>(problem.dtype);
  made.batch = problem.batch;
  made.heads = problem.heads;
  made.kv_heads = problem.kv_heads;
  made.seq_len = problem.seq_len;
  made.seq_len_kv = problem.seq_len_kv;
  made.d_head = problem.d_head;
  made.d_head_v = problem.d_head_v;
  made.causal = problem.causal;
  made.window = problem.window;
  made.softmax_scale = problem.softmax_scale;
  made.lse = problem.lse;
  made.has_seq_lens_kv = !problem.seq_lens_kv.empty();
  made.softcap = problem.softcap;
  made.has_sinks = problem.sinks;
  if (has_scales(problem)) {
    made.kv_dtype = static_cast<fatune_attention::KvDType>(problem.kv_dtype);
    made.kv_scales = static_cast<fatune_attention::KvScales>(problem.kv_scales);
  }
  if (has_pages(problem)) {
    made.page_size = problem.page_size;
    made.pool_pages = pool_pages(problem);
    made.seq_len_kv = pages_of_sequence(problem) * problem.page_size;
  }
  if (is_packed(problem)) {
    made.is_packed = true;
    made.has_seq_lens_kv = false;  // the first rows of sequences say them
    made.queries_total = total_queries(problem);
    made.keys_total = total_keys(problem);
  }
  return made;
}

RuntimeTable::RuntimeTable(const TunedTable& table) {
  std::map<GpuModel, int> gpu_indices;
  for (const auto& [model, limits] : table.gpus) {
    gpu_indices.emplace(model, static_cast<int>(gpus_.size()));
    gpus_.push_back(runtime_gpu(model));
  }
  for (const TunedProblem& row : table.problems) {
    const auto& configs = row_configs_.emplace_back(mapped(row.times, [&](const TunedTime& time) {
      return runtime::RowConfig{index_of(time.config), time.time_us, time.regret_percent};
    }));
    rows_.push_back({gpu_indices.at(row.gpu), runtime_problem(row.problem),
                     row.problem.layout == Layout::bhsd, configs.data(),
                     static_cast<int>(configs.size())});
  }
  for (const DefaultConfig& known : table.defaults) {
    defaults_.push_back(
        {gpu_indices.at(known.gpu), static_cast<fatune_attention::DType>(known.dtype), known.d_head,
         known.d_head_v, known.causal, known.few_queries, index_of(known.config), known.kv});
  }
  std::map<std::string, int> families;
  for (const FittedTime& fitted : table.fits) {
    const int configuration = index_of(fitted.config);
    fits_.push_back({gpu_indices.at(fitted.gpu), fitted.kind, configuration, fitted.fit});
    const auto family =
        families.try_emplace(fitted.config.family, static_cast<int>(families.size())).first;
    fit_keys_.resize(configs_.size(), {-1, -1, -1});
    fit_keys_[static_cast<std::size_t>(configuration)] = {
        static_cast<int>(fitted.like), static_cast<int>(fitted.rest), family->second};
  }
  table_.gpus = list_of(gpus_);
  table_.rows = list_of(rows_);
  table_.defaults = list_of(defaults_);
  table_.fits = list_of(fits_);
  table_.fit_keys = list_of(fit_keys_);
}

int RuntimeTable::index_of(const Config& config) {
  const auto [known, is_new] = indices_.try_emplace(config, static_cast<int>(configs_.size()));
  if (is_new) {
    configs_.push_back(&known->first);
  }
  return known->second;
}

}  // namespace fatune
