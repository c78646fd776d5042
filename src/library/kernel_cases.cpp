#include "library/kernel_cases.hpp"

#include <algorithm>

namespace fatune {
namespace {

constexpr int kLeastLog2 = 4;
constexpr int kMostLog2 = 17;
constexpr std::int64_t kStep = 16;
constexpr std::int64_t kMostTile = 512;
constexpr std::int64_t kLong = 4096;

/// Powers of two, and short and long multiples of 16. Tiles of every size divide some of them.
std::vector<std::int64_t> lengths() {
  std::vector<std::int64_t> all;
  for (int log2 = kLeastLog2; log2 <= kMostLog2; ++log2) {
    all.push_back(std::int64_t{1} << log2);
  }
  for (std::int64_t length = kStep; length <= kMostTile; length += kStep) {
    all.push_back(length);
    all.push_back(kLong + length);
  }
  return all;
}

std::vector<Problem> with_other_lengths(const Problem& tuned) {
  std::vector<Problem> problems{tuned};
  const auto add = [&](std::int64_t queries, std::int64_t keys) {
    Problem& other = problems.emplace_back(tuned);
    other.seq_len = queries;
    other.seq_len_kv = keys;
  };
  for (const std::int64_t length : lengths()) {
    for (const std::int64_t keys : {length, length - 1}) {
      add(keys, keys);
      add(length / 2, keys);
    }
  }
  return problems;
}

/// Whether the row has the configuration's time, or the configuration is the row's default.
bool serves(const TunedTable& table, const TunedProblem& row, const Config& config) {
  return row.find(config) != row.times.end() ||
         std::ranges::any_of(table.defaults, [&](const DefaultConfig& known) {
           return known.config == config && known.gpu == row.gpu &&
                  known.causal == row.problem.causal && known.dtype == row.problem.dtype &&
                  known.d_head == row.problem.d_head && known.d_head_v == row.problem.d_head_v;
         });
}

}  // namespace

std::vector<KernelCase> kernel_cases(const TunedTable& table, const Config& config) {
  std::vector<KernelCase> cases;
  for (const TunedProblem& row : table.problems) {
    if (!serves(table, row, config)) {
      continue;
    }
    for (Problem problem : with_other_lengths(row.problem)) {
      for (const bool lse : {row.problem.lse, !row.problem.lse}) {
        problem.lse = lse;
        cases.push_back({problem, &table.gpus.at(row.gpu)});
      }
    }
  }
  return cases;
}

}  // namespace fatune
