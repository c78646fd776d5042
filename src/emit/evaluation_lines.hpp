#pragma once

#include <cstdint>
#include <string>

#include "attention/problem.hpp"
#include "core/outcome.hpp"
#include "plan/family.hpp"

// Lines of `fatune evaluate` (configs/schema/evaluate.schema.json). `id` is JSON text.
namespace fatune {

/// Says what may be proposed: the problem, and the parameters with their values.
[[nodiscard]] std::string ready_line(const Family& family, const Problem& problem);
/// Reports the outcome of a configuration.
[[nodiscard]] std::string answer_line(const std::string& id, const std::string& short_form,
                                      const Outcome& outcome);
/// Says why a line of input proposes nothing. `line` is its number, from 1.
[[nodiscard]] std::string refusal_line(std::int64_t line, const std::string& id,
                                       const std::string& what, const std::string& remedy);

}  // namespace fatune
