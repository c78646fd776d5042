#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/problem.hpp"
#include "runtime/choose.hpp"

namespace fatune {

/// The GPU that times belong to: product name, architecture and number of SMs.
struct GpuModel {
  std::string name;
  Arch arch;
  int sm_count = 0;

  auto operator<=>(const GpuModel&) const = default;
};
[[nodiscard]] inline GpuModel model_of(const DeviceLimits& limits) {
  return {limits.name, limits.arch, limits.sm_count};
}

/// A configuration that was measured on a problem.
struct TunedTime {
  Config config;
  std::string short_form;
  double time_us = 0.0;           ///< median
  double regret_percent = 0.0;    ///< by which it is slower than the problem's winner; at least 0
  int tie_group = 0;              ///< 1: it cannot be told apart from the winner
  std::string verified;           ///< how its output was verified: "gpu"; empty: it was not
  bool sources_recorded = false;  ///< measured with the kernel's sources at hand; false: unknown
  std::int64_t samples = 0;       ///< 0: not known
  double stddev_us = 0.0;         ///< of the samples; 0: not known
};

/// What is known of a configuration's time on a row, beside the model of its family.
struct KnownTime {
  Config config;
  std::size_t like = 0;  ///< the number of its fit, which configurations like it share
  std::size_t rest = 0;  ///< the number of its values of parameters that fits do not tell apart
  fatune_attention::detail::ModelTime model;
  double us = 0.0;
  bool at_least = false;  ///< its time is not known, but it lost the race: it takes this or longer
  double noise = 0.0;     ///< relative standard error of the mean of its samples
};

/// A row of the table: a problem that was tuned on a GPU.
struct TunedProblem {
  GpuModel gpu;
  Problem problem;
  std::vector<TunedTime> times;   ///< best first; at least one
  std::size_t origin = 0;         ///< index of TunedTable::origins
  std::optional<double> calls{};  ///< how often a workload calls it; absent: no workload was swept
  std::int64_t more_raced = 0;    ///< configurations that lost the race, and are not in `times`
  /// For fit_times(). Null: no family with a time has a model, or nothing was evaluated.
  std::shared_ptr<const std::vector<KnownTime>> known{};

  /// Finds the configuration's time. Returns times.end() if it is not known.
  [[nodiscard]] auto find(const Config& config) const {
    return std::ranges::find(times, config, &TunedTime::config);
  }
};

/// The origin of a part of the table.
struct TunedOrigin {
  std::string name;  ///< the file, or "run 12"
  std::string started_at;
  std::string fatune_version;
  std::string nvrtc_version;
  std::string driver;    ///< its release; empty: not known
  bool complete = true;  ///< false: it was stopped, its winners may not be the fastest
};

/// A result that is in no row, with the reason.
struct SkippedResult {
  std::string origin;
  std::string problem;  ///< its description
  std::string config;   ///< short form; empty: all of the problem's
  std::string reason;
};

/// The configuration of a family for problems that no row is near to.
struct DefaultConfig {
  GpuModel gpu;
  DType dtype = DType::fp16;
  std::int64_t d_head = 0;
  std::int64_t d_head_v = 0;
  bool causal = false;
  bool few_queries = false;  ///< fatune_attention::detail::has_few_queries()
  fatune_attention::detail::KvKind kv{};
  Config config;
  std::string short_form;
  std::size_t problems = 0;           ///< tuned problems with all of the above
  std::size_t measured_on = 0;        ///< of these, those on which it has a time
  double mean_regret_percent = 0.0;   ///< by which it is slower on those: geometric mean
  double worst_regret_percent = 0.0;  ///< the greatest on those
};

/// What measured times on a GPU say of a configuration's time on problems of a kind.
struct FittedTime {
  GpuModel gpu;
  fatune_attention::detail::Kind kind;
  Config config;         ///< it may itself not have been measured
  std::size_t like = 0;  ///< as in KnownTime
  std::size_t rest = 0;
  fatune_attention::detail::TimeFit fit;
};

/// Tuned problems of any number of GPUs and families.
struct TunedTable {
  std::vector<TunedOrigin> origins;
  std::map<GpuModel, DeviceLimits> gpus;
  std::vector<TunedProblem> problems;  ///< sorted by GPU, type, d_head, mask, length; each once
  std::vector<DefaultConfig> defaults;
  /// Parameters of families that fits do not tell apart. Set by add_model_times().
  std::map<std::string, std::vector<std::size_t>> not_fitted{};
  std::vector<FittedTime> fits{};  ///< fit_times()
  std::vector<SkippedResult> skipped;
};

/// The configuration with the other one's values of the parameters that fits do not tell apart.
/// Both are of one family.
[[nodiscard]] Config with_rest_of(const TunedTable& table, Config config, const Config& other);

/// The configuration with 0 for each of these parameters: the same for configurations that share a
/// fit.
[[nodiscard]] Config without_rest(const TunedTable& table, const Config& config);

/// Whether a kernel does the same work on two problems: the scale of the scores is an argument.
[[nodiscard]] bool same_work(const Problem& a, const Problem& b);

/// Sorts the rows. Of several rows for the same work on the same GPU, keeps the one with the
/// fastest winner. Chooses the defaults: for each GPU, type, head dimensions, mask, few queries or
/// more, KvKind, and family, the configuration that is measured on the most rows; of several, the
/// one with
/// the least geometric mean of its times over the winners', then the least worst regret, then the
/// first in configuration order. Fits the times.
void finish_table(TunedTable& table);

[[nodiscard]] fatune_attention::detail::Kind kind_of(const TunedProblem& row);
/// A kind of problems without its masks and its element type.
[[nodiscard]] fatune_attention::detail::Kind kernel_kind(
    const fatune_attention::detail::Kind& kind);
[[nodiscard]] fatune_attention::detail::Kind kernel_kind(const TunedProblem& row);

/// What decides about that row's problem in the table as if no GPU had been tuned for it: the rows
/// and fits of its kernel_kind(), and all defaults. The fits of other GPUs have its times.
[[nodiscard]] TunedTable without_row(const TunedTable& table, std::size_t row);

/// Whether a default was chosen for problems such as the row's, among others.
[[nodiscard]] bool is_default_of(const DefaultConfig& known, const TunedProblem& row);

/// A problem as exported libraries represent it.
[[nodiscard]] fatune_attention::Problem runtime_problem(const Problem& problem);
/// A GPU as exported libraries represent it. The model must outlive it.
[[nodiscard]] inline fatune_attention::detail::TunedGpu runtime_gpu(const GpuModel& model) {
  return {model.name.c_str(), model.arch.sm, model.sm_count};
}

/// A table as exported libraries represent it, from which a configuration is chosen. The table must
/// outlive it.
class RuntimeTable {
 public:
  explicit RuntimeTable(const TunedTable& table);
  RuntimeTable(const RuntimeTable&) = delete;
  RuntimeTable& operator=(const RuntimeTable&) = delete;

  [[nodiscard]] const fatune_attention::detail::Table& table() const { return table_; }
  /// All configurations of the table, each once. The indices are those of the runtime's table.
  [[nodiscard]] const std::vector<const Config*>& configs() const { return configs_; }

 private:
  [[nodiscard]] int index_of(const Config& config);

  std::vector<const Config*> configs_;
  std::map<Config, int> indices_;
  std::vector<fatune_attention::detail::TunedGpu> gpus_;
  std::vector<std::vector<fatune_attention::detail::RowConfig>> row_configs_;
  std::vector<fatune_attention::detail::Row> rows_;
  std::vector<fatune_attention::detail::Default> defaults_;
  std::vector<fatune_attention::detail::Fit> fits_;
  std::vector<fatune_attention::detail::FitKey> fit_keys_;
  fatune_attention::detail::Table table_{};
};

}  // namespace fatune
