#pragma once

#include <cstdint>
#include <string_view>

namespace fatune {

enum class Strategy {
  exhaustive,  ///< the same number of samples for each configuration
  race,        ///< samples go to the configurations that can still win
};

[[nodiscard]] std::string_view strategy_name(Strategy strategy);  ///< "exhaustive", "race"
/// Throws Error(usage) for any other text.
[[nodiscard]] Strategy parse_strategy(std::string_view text);

/// How the measurements are taken. Every output has it.
struct MeasurePolicy {
  Strategy strategy = Strategy::race;
  int warmup = 0;            ///< discarded samples of each configuration
  int repeats = 64;          ///< exhaustive: samples of each configuration
  double target_ci = 0.005;  ///< race: half-width of a contender's interval, relative to its median
  double budget_s = 0.0;     ///< race: seconds for the whole run; 0: no limit
  bool flush_l2 = true;      ///< write a buffer of twice the L2 before each sample
  bool device_gate = true;   ///< hold the stream until the host has queued the sample
  bool cuda_graph = false;   ///< launch as a CUDA graph of one kernel
  double confidence = 0.95;
  std::uint64_t seed = 1;
  bool parts = false;  ///< race: if a launch is long, early rounds are on a part of the problem
};

}  // namespace fatune
