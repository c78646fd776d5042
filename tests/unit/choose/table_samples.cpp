#include "unit/choose/table_samples.hpp"

#include <fmt/format.h>

namespace fatune::samples {

DeviceLimits gpu(const std::string& name, Arch arch) {
  DeviceLimits limits;
  limits.name = name;
  limits.arch = arch;
  limits.sm_count = 100;
  return limits;
}

Problem problem(std::int64_t seq_len, std::int64_t batch, bool causal) {
  return {batch, seq_len, 16, 64, DType::fp16, causal};
}

Config config(int number, const std::string& family) { return {family, {number}}; }

TunedProblem row(const Problem& problem, const std::vector<std::pair<int, double>>& config_us,
                 const DeviceLimits& device) {
  TunedProblem tuned{model_of(device), problem, {}, 0};
  const double fastest_us = config_us.front().second;
  int tie_group = 0;
  for (const auto& [number, us] : config_us) {
    tuned.times.push_back({config(number), fmt::format("c{}", number), us,
                           100.0 * (us / fastest_us - 1.0), ++tie_group, "gpu", false});
  }
  return tuned;
}

TunedTable table(std::vector<TunedProblem> rows) {
  TunedTable table;
  table.origins.push_back({"samples", {}, {}, {}, {}});
  for (TunedProblem& tuned : rows) {
    table.gpus[tuned.gpu] = gpu(tuned.gpu.name, tuned.gpu.arch);
    table.problems.push_back(std::move(tuned));
  }
  finish_table(table);
  return table;
}

WhyNot anything_goes() {
  return [](const Config&, const Problem&, const DeviceLimits&) { return std::nullopt; };
}

}  // namespace fatune::samples
