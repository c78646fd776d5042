#include "attention/probe_problem.hpp"

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

}  // namespace fatune
