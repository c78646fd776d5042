#include "model/kv_pages.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "model/kv_lengths.hpp"

namespace fatune {
namespace {

std::int64_t pages_for(std::int64_t keys, std::int64_t page_size) {
  return (keys + page_size - 1) / page_size;
}

/// The pages of the pool in a random order.
std::vector<std::int32_t> shuffled_pages(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int32_t> pages(static_cast<std::size_t>(count));
  std::iota(pages.begin(), pages.end(), 0);
  std::mt19937_64 random(seed);
  std::ranges::shuffle(pages, random);
  return pages;
}

}  // namespace

std::int64_t pages_of_sequence(const Problem& problem) {
  return pages_for(problem.seq_len_kv, problem.page_size);
}

std::int64_t pool_pages(const Problem& problem) {
  constexpr std::int64_t kSparePart = 8;
  std::int64_t filled = problem.batch * pages_of_sequence(problem);
  if (is_packed(problem)) {
    filled = 0;
    for (const std::int64_t keys : kv_lengths(problem)) {
      filled += pages_for(keys, problem.page_size);
    }
  }
  return filled + filled / kSparePart + 1;
}

std::vector<std::int32_t> page_table(const Problem& problem, std::uint64_t seed) {
  const std::vector<std::int32_t> pages = shuffled_pages(pool_pages(problem), seed);
  const auto width = static_cast<std::size_t>(pages_of_sequence(problem));
  std::vector<std::int32_t> table;
  table.reserve(static_cast<std::size_t>(problem.batch) * width);
  auto next = pages.begin();
  for (const std::int64_t keys : kv_lengths(problem)) {
    const std::int64_t used = pages_for(keys, problem.page_size);
    table.insert(table.end(), next, next + used);
    table.insert(table.end(), width - static_cast<std::size_t>(used), kNoPage);
    next += used;
  }
  return table;
}

void check_pages(const Problem& problem) {
  if (!has_pages(problem)) {
    return;
  }
  if ((problem.page_size & (problem.page_size - 1)) != 0) {
    throw Error(ExitCode::usage, fmt::format("page_size is {}", problem.page_size), {},
                fmt::format("it must be a power of two from 1 to {}, or 0", kMostPageSize));
  }
  constexpr std::int64_t kMostPages = std::numeric_limits<std::int32_t>::max();
  if (pool_pages(problem) > kMostPages) {
    throw Error(ExitCode::usage,
                fmt::format("{} sequences of {} keys have too many pages of {} keys", problem.batch,
                            problem.seq_len_kv, problem.page_size),
                {}, fmt::format("tables can name {}: use larger pages", kMostPages));
  }
}

Problem without_pages(Problem problem) {
  problem.page_size = 0;
  return problem;
}

KeyRows::KeyRows(const Problem& problem, const TensorShape& shape)
    : shape_(shape), page_size_(problem.page_size) {
  if (has_pages(problem)) {
    pages_of_sequence_ = pages_of_sequence(problem);
    table_ = page_table(problem);
    if (is_packed(problem)) {
      starts_ = starts_of(kv_lengths(problem));
    }
  }
}

std::int64_t KeyRows::offset(std::int64_t batch, std::int64_t key, std::int64_t head) const {
  if (table_.empty()) {
    return shape_.row_offset(batch, key, head);
  }
  if (!starts_.empty()) {
    const SequenceRow at = row_in_sequence(starts_, key);
    batch = at.sequence;
    key = at.row;
  }
  const auto entry = static_cast<std::size_t>(batch * pages_of_sequence_ + key / page_size_);
  return shape_.row_offset(table_[entry], key % page_size_, head);
}

}  // namespace fatune
