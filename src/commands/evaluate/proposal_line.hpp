#pragma once

#include <string>
#include <string_view>

#include "attention/problem.hpp"
#include "core/config.hpp"
#include "plan/family.hpp"

namespace fatune {

/// The proposal in a line: {"id": any, "config": "(...)"} or {"id": any, "parameters": {...}}.
struct ProposalLine {
  std::string id;  ///< JSON text; "null" if the line has none
  Config config;
};

/// Parses a line. Parameters that are bound to the problem may be left out. Throws Error(usage) for
/// a line that is not such an object, for an unknown or missing property or parameter, and for a
/// configuration that does not parse. It does not check that the family can build the
/// configuration.
[[nodiscard]] ProposalLine read_proposal(const Family& family, const Problem& problem,
                                         std::string_view line);

/// Returns the id of a line as JSON, even if the rest of the line is wrong. "null": it has none.
[[nodiscard]] std::string proposal_id(std::string_view line);

}  // namespace fatune
