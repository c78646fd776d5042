#include "attention/probe_problem.hpp"

#include <algorithm>

namespace fatune {

Problem probe_problem(const Problem& problem) {
  Problem probe = problem;
  probe.batch = 1;
  return probe;
}

std::int64_t short_length(std::int64_t seq_len) {
  if (seq_len <= kShortLength) {
    return seq_len;
  }
  const std::int64_t rest = seq_len % kShortLength;
  return rest < kShortLength / 2 ? kShortLength + rest : rest;
}

Problem small_problem(const Problem& problem) {
  Problem small = problem;
  small.batch = 1;
  small.seq_len = short_length(problem.seq_len);
  small.seq_len_kv = short_length(problem.seq_len_kv);
  return small;
}

std::optional<Problem> narrow_problem(const Problem& problem) {
  constexpr std::int64_t kPart = 3;  // a third of 256 keys is ragged for every tile
  Problem small = small_problem(problem);
  const auto longest = [](const Problem& of) { return std::max(of.seq_len, of.seq_len_kv); };
  if (problem.window >= longest(problem) || problem.window < longest(small)) {
    return std::nullopt;
  }
  small.window = (small.seq_len_kv + kPart - 1) / kPart;
  return small;
}

}  // namespace fatune
