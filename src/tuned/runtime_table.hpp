#pragma once

#include <vector>

#include "attention/problem.hpp"
#include "runtime/choose.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

/// A problem as exported libraries represent it.
[[nodiscard]] fatune_attention::Problem runtime_problem(const Problem& problem);
/// A GPU as exported libraries represent it. The model must outlive it.
[[nodiscard]] fatune_attention::detail::TunedGpu runtime_gpu(const GpuModel& model);

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
  void add_row(const TunedProblem& row, int gpu);
  [[nodiscard]] int index_of(const Config& config);

  std::vector<const Config*> configs_;
  std::map<Config, int> indices_;
  std::vector<fatune_attention::detail::TunedGpu> gpus_;
  std::vector<std::vector<fatune_attention::detail::RowConfig>> row_configs_;
  std::vector<fatune_attention::detail::Row> rows_;
  std::vector<fatune_attention::detail::Default> defaults_;
  fatune_attention::detail::Table table_{};
};

}  // namespace fatune
