#include "tuned/runtime_table.hpp"

#include <iterator>

#include "core/mapped.hpp"

namespace fatune {
namespace {

namespace runtime = fatune_attention::detail;

template <typename Item>
runtime::List<Item> list_of(const std::vector<Item>& items) {
  return {items.data(), static_cast<int>(items.size())};
}

runtime::RowConfig row_config(const TunedTime& time, int configuration) {
  return {configuration, time.time_us, time.regret_percent};
}

runtime::Default runtime_default(const DefaultConfig& known, int gpu, int configuration) {
  return {gpu,          static_cast<fatune_attention::DType>(known.dtype),
          known.d_head, known.d_head_v,
          known.causal, configuration};
}

}  // namespace

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
  return made;
}

runtime::TunedGpu runtime_gpu(const GpuModel& model) {
  return {model.name.c_str(), model.arch.sm, model.sm_count};
}

RuntimeTable::RuntimeTable(const TunedTable& table) {
  std::map<GpuModel, int> gpu_indices;
  for (const auto& [model, limits] : table.gpus) {
    gpu_indices.emplace(model, static_cast<int>(gpus_.size()));
    gpus_.push_back(runtime_gpu(model));
  }
  for (const TunedProblem& row : table.problems) {
    add_row(row, gpu_indices.at(row.gpu));
  }
  for (const DefaultConfig& known : table.defaults) {
    defaults_.push_back(runtime_default(known, gpu_indices.at(known.gpu), index_of(known.config)));
  }
  table_.gpus = list_of(gpus_);
  table_.rows = list_of(rows_);
  table_.defaults = list_of(defaults_);
}

void RuntimeTable::add_row(const TunedProblem& row, int gpu) {
  const auto& configs = row_configs_.emplace_back(mapped(
      row.times, [&](const TunedTime& time) { return row_config(time, index_of(time.config)); }));
  rows_.push_back({gpu, runtime_problem(row.problem), row.problem.layout == Layout::bhsd,
                   configs.data(), static_cast<int>(configs.size())});
}

int RuntimeTable::index_of(const Config& config) {
  const auto [known, is_new] = indices_.try_emplace(config, static_cast<int>(configs_.size()));
  if (is_new) {
    configs_.push_back(&known->first);
  }
  return known->second;
}

}  // namespace fatune
