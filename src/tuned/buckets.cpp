#include "tuned/buckets.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace fatune {
namespace {

double octaves(std::int64_t extent) { return std::log2(static_cast<double>(extent)); }

}  // namespace

Coordinates coordinates_of(const Problem& problem, int sm_count) {
  return {octaves(problem.seq_len),
          octaves(problem.seq_len_kv),
          octaves(problem.batch * problem.heads) - octaves(sm_count),
          octaves(group_size(problem)),
          problem.window > 0 ? octaves(problem.window) : 0.0,
          problem.lse ? 1.0 : 0.0,
          problem.layout == Layout::bhsd ? 1.0 : 0.0};
}

Buckets buckets_of(const Coordinates& coordinates) {
  Buckets buckets{};
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    buckets.at(i) = static_cast<int>(std::lround(coordinates.at(i)));
  }
  return buckets;
}

bool same_kind(const Problem& a, const Problem& b) {
  return a.dtype == b.dtype && a.d_head == b.d_head && a.d_head_v == b.d_head_v &&
         a.causal == b.causal && (a.window > 0) == (b.window > 0);
}

std::optional<Distance> neighbour_distance(const Coordinates& a, const Coordinates& b) {
  const Buckets bucket_of_a = buckets_of(a);
  const Buckets bucket_of_b = buckets_of(b);
  Distance distance;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int steps = std::abs(bucket_of_a.at(i) - bucket_of_b.at(i));
    if (steps > 1) {
      return std::nullopt;
    }
    distance.buckets += steps;
    distance.octaves += std::abs(a.at(i) - b.at(i));
  }
  return distance;
}

}  // namespace fatune
