#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/enum_names.hpp"
#include "base/members.hpp"
#include "base/text_parts.hpp"

namespace fatune {

enum class Strategy {
  exhaustive,  ///< every configuration gets as many samples
  race,        ///< samples go to the configurations that can still win
};

template <>
inline constexpr EnumNames<2> kEnumNames<Strategy>{"strategy", {"exhaustive", "race"}};

/// How the measurements are taken. Every output has it.
struct MeasurePolicy {
  Strategy strategy = Strategy::race;
  int warmup = 0;
  int repeats = 64;
  double target_ci = 0.005;
  double budget_s = 0.0;
  bool flush_l2 = true;     ///< read other memory before each sample, so that it finds the L2 cold
  bool device_gate = true;  ///< hold the stream until the host has queued the sample
  bool cuda_graph = false;  ///< launch as a CUDA graph of one kernel
  double confidence = 0.95;
  std::uint64_t seed = 1;
  bool parts = false;
  double sustain_s = 0.0;
};
FATUNE_DESCRIBED(
    MeasurePolicy,
    (strategy,
     "race: samples go to the configurations that can still win; exhaustive: each configuration "
     "gets the same number of samples"),
    (warmup, "number of first samples of each configuration that were discarded"),
    (repeats, "number of samples of each configuration with the strategy exhaustive"),
    (target_ci,
     "half-width of the median's confidence interval that a race aims for, as a fraction of the "
     "median"),
    (budget_s, kOrNull, "time limit of a race for the whole run in seconds; null: no limit"),
    (flush_l2, "whether other memory was read into the L2 cache before each sample"),
    (device_gate, "whether the GPU was held until the host had queued a sample"),
    (cuda_graph, "whether kernels were launched as CUDA graphs"),
    (confidence, "confidence level of the confidence intervals"),
    (seed, "seed of the random inputs"),
    (parts,
     "whether early rounds of a race measured only a part of the problem if a launch takes long "
     "(docs/racing.md)"),
    (sustain_s, kOrNull,
     "seconds of launches of each turn of a sustained final (docs/racing.md); null: there are no "
     "sustained finals"))

/// Selects the configurations of a problem that are tried (docs/search.md).
enum class SearchKind {
  automatic,   ///< all of a small space; else as model, until more is unlikely to help
  exhaustive,  ///< all
  random,
  local,  ///< the neighbours of the fastest one, repeatedly
  model,  ///< configurations that a model, which learns from the measurements, predicts to be fast
};

template <>
inline constexpr EnumNames<5> kEnumNames<SearchKind>{
    "search", {"auto", "exhaustive", "random", "local", "model"}};

/// Why a race took no more samples.
enum class StopReason {
  not_yet,      ///< the caller gave up (the user interrupted it), or the race is not finished
  fixed_count,  ///< exhaustive: each candidate has all its samples
  target,       ///< intervals of the winner and of those tied with it are as narrow as requested
  noise,        ///< more samples no longer make the intervals narrower
  budget,       ///< the time is used up
  round_limit,
  nobody_left,  ///< every candidate was withdrawn
};

template <>
inline constexpr EnumNames<7> kEnumNames<StopReason>{
    "stop reason",
    {"interrupted", "fixed count", "target reached", "noise stopped falling", "budget used up",
     "round limit", "nobody left"}};

inline constexpr std::string_view kAtAdmission = "eliminated at admission";
inline constexpr std::string_view kEliminatedIn = "eliminated in round ";

/// "eliminated in round 25"; for round 0 "eliminated at admission".
[[nodiscard]] inline std::string elimination_text(int round) {
  return std::string(round == 0 ? kAtAdmission : kEliminatedIn) +
         (round == 0 ? "" : std::to_string(round));
}
/// Reads the round from such a text. Returns nothing for other text.
[[nodiscard]] inline std::optional<int> elimination_round(std::string_view text) {
  return text == kAtAdmission              ? std::optional(0)
         : text.starts_with(kEliminatedIn) ? whole_number<int>(text.substr(kEliminatedIn.size()))
                                           : std::nullopt;
}

}  // namespace fatune
