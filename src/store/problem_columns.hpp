#pragma once

#include <string>

#include "attention/problem.hpp"
#include "store/database.hpp"

// How a problem stands in the store: its first six properties in a row of `problems`, the others in
// run_problems.problem_details.
namespace fatune {

/// The columns that read_problem() reads, of rows `p` of problems and `rp` of run_problems.
inline constexpr const char* kProblemColumns =
    "p.batch, p.seq_len, p.heads, p.d_head, p.dtype, p.causal, rp.problem_details";
inline constexpr int kProblemColumnCount = 7;

/// The columns that digests cover. Digests from before there were details stay as they are.
inline constexpr const char* kDigestedProblem =
    "p.batch, p.seq_len, p.heads, p.d_head, p.dtype, "
    "CASE WHEN rp.problem_details = '' THEN p.causal ELSE p.causal || rp.problem_details END";

/// The text of run_problems.problem_details; empty when nothing is unusual.
[[nodiscard]] std::string details_text(const Problem& problem);

/// Throws Error(bad_file) for details that cannot be read.
[[nodiscard]] Problem read_problem(const Statement& row, int first);

}  // namespace fatune
