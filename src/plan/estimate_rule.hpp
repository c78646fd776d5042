#pragma once

#include <optional>
#include <string>

#include "base/json_file.hpp"
#include "model/device_limits.hpp"
#include "model/problem.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Reads a family's "estimate"; an empty rule if it has none. Adds the model's names to `symbols`.
[[nodiscard]] EstimateRule read_estimate(const JsonNode& root,
                                         const std::vector<Parameter>& parameters,
                                         SymbolTable& symbols);

/// Evaluates the model; nothing if the family has none. Throws Error(bad_file) if an expression
/// gives a negative time, or an impossible number of tiles.
[[nodiscard]] std::optional<TimeModel> time_model(const ConfigCase& of);

/// How far the order of a family's estimates for an architecture is known to hold, as a sentence
/// without its full stop: "rank correlation 0.82 to 0.97 with ...", "nobody knows: ...".
/// `least_queries`: the smallest seq_len of the problems that are estimated.
[[nodiscard]] std::string order_sentence(const Family& family, Arch arch,
                                         std::int64_t least_queries);

}  // namespace fatune
