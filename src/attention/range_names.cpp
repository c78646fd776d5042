#include "attention/range_names.hpp"

#include <fmt/format.h>

namespace fatune {
namespace {

std::string range_name(const char* kind, const std::string& family, const Problem& problem) {
  return fmt::format("{}_{}_B{}_H{}_N{}_D{}", kind, family, problem.batch, problem.heads,
                     problem.seq_len, problem.d_head);
}

}  // namespace

std::string bench_range_name(const std::string& family, const Problem& problem) {
  return range_name("bench", family, problem);
}

std::string attention_range_name(const std::string& family, const Problem& problem,
                                 const std::string& config) {
  return fmt::format("{} {}", range_name("attention", family, problem), config);
}

}  // namespace fatune
