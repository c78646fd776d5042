#include "choose.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <tuple>

namespace fatune_attention::detail {
namespace {

double octaves(std::int64_t extent) { return std::log2(static_cast<double>(extent)); }

bool is_this(const TunedGpu& a, const TunedGpu& b) {
  return a.arch == b.arch && a.sm_count == b.sm_count && std::strcmp(a.name, b.name) == 0;
}

/// The step of a neighbouring row that was tuned on this GPU.
Step step_on_this_gpu(const Wanted& row, const Wanted& wanted, const Distance& distance) {
  if (same_work(row, wanted)) {
    return Step::exact;
  }
  return distance.buckets == 0 ? Step::same_bucket : Step::neighbour_bucket;
}

/// Returns nothing if the row says nothing about the problem.
std::optional<NearRow> near_row(const Table& table, int index, const Wanted& wanted,
                                const Coordinates& coordinates, const TunedGpu& gpu) {
  const Row& row = table.rows[index];
  const TunedGpu& row_gpu = table.gpus[row.gpu];
  if (row_gpu.arch != gpu.arch || !same_kind(row.problem, wanted.problem)) {
    return std::nullopt;
  }
  const Wanted tuned{row.problem, row.layout_bhsd};
  const auto distance = neighbour_distance(coordinates_of(tuned, row_gpu.sm_count), coordinates);
  if (!distance) {
    return std::nullopt;
  }
  return NearRow{
      is_this(row_gpu, gpu) ? step_on_this_gpu(tuned, wanted, *distance) : Step::same_arch,
      *distance, index};
}

auto key_of(const DefaultPlace& place) {
  return std::tie(place.other_gpu, place.differences, place.index);
}

DefaultPlace place_of(const Table& table, int index, const Problem& problem, const TunedGpu& gpu) {
  const Default& known = table.defaults[index];
  const TunedGpu& known_gpu = table.gpus[known.gpu];
  const int other_gpu = is_this(known_gpu, gpu) ? 0 : known_gpu.arch == gpu.arch ? 1 : 2;
  const int differences = int{known.causal != problem.causal} + int{known.dtype != problem.dtype} +
                          int{known.d_head != problem.d_head} +
                          int{known.d_head_v != problem.d_head_v};
  return {other_gpu, differences, index};
}

}  // namespace

Coordinates coordinates_of(const Wanted& wanted, int sm_count) {
  const Problem& problem = wanted.problem;
  return {octaves(problem.seq_len),
          octaves(problem.seq_len_kv),
          octaves(problem.batch * problem.heads) - octaves(sm_count),
          octaves(problem.heads / problem.kv_heads),
          problem.window > 0 ? octaves(problem.window) : 0.0,
          problem.lse ? 1.0 : 0.0,
          wanted.layout_bhsd ? 1.0 : 0.0};
}

Buckets buckets_of(const Coordinates& coordinates) {
  Buckets buckets{};
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    buckets[i] = static_cast<int>(std::lround(coordinates[i]));
  }
  return buckets;
}

Kind kind_of(const Problem& problem) {
  return {static_cast<int>(problem.dtype), problem.d_head, problem.d_head_v, problem.causal ? 1 : 0,
          problem.window > 0 ? 1 : 0};
}

bool same_kind(const Problem& a, const Problem& b) { return kind_of(a) == kind_of(b); }

bool same_work(const Wanted& a, const Wanted& b) {
  const auto key = [](const Wanted& of) {
    const Problem& p = of.problem;
    return std::make_tuple(p.dtype, p.batch, p.heads, p.kv_heads, p.seq_len, p.seq_len_kv, p.d_head,
                           p.d_head_v, p.causal, p.window, p.lse, of.layout_bhsd);
  };
  return key(a) == key(b);
}

bool operator==(const Distance& a, const Distance& b) {
  return a.buckets == b.buckets && a.octaves == b.octaves;
}

bool operator<(const Distance& a, const Distance& b) {
  return std::tie(a.buckets, a.octaves) < std::tie(b.buckets, b.octaves);
}

bool operator<(const NearRow& a, const NearRow& b) {
  return std::tie(a.step, a.distance, a.row) < std::tie(b.step, b.distance, b.row);
}

std::optional<Distance> neighbour_distance(const Coordinates& a, const Coordinates& b) {
  const Buckets bucket_of_a = buckets_of(a);
  const Buckets bucket_of_b = buckets_of(b);
  Distance distance;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int steps = std::abs(bucket_of_a[i] - bucket_of_b[i]);
    if (steps > 1) {
      return std::nullopt;
    }
    distance.buckets += steps;
    distance.octaves += std::abs(a[i] - b[i]);
  }
  return distance;
}

std::optional<NearRow> next_near_row(const Table& table, const Wanted& wanted, const TunedGpu& gpu,
                                     const NearRow* last) {
  const Coordinates coordinates = coordinates_of(wanted, gpu.sm_count);
  std::optional<NearRow> next;
  for (int index = 0; index < table.rows.count; ++index) {
    const auto near = near_row(table, index, wanted, coordinates, gpu);
    if (near && (last == nullptr || *last < *near) && (!next || *near < *next)) {
      next = near;
    }
  }
  return next;
}

std::optional<DefaultPlace> next_default(const Table& table, const Problem& problem,
                                         const TunedGpu& gpu, const DefaultPlace* last) {
  std::optional<DefaultPlace> next;
  for (int index = 0; index < table.defaults.count; ++index) {
    const DefaultPlace place = place_of(table, index, problem, gpu);
    const bool is_behind = last == nullptr || key_of(*last) < key_of(place);
    if (is_behind && (!next || key_of(place) < key_of(*next))) {
      next = place;
    }
  }
  return next;
}

}  // namespace fatune_attention::detail

namespace fatune_attention {

const char* step_name(Step step) {
  switch (step) {
    case Step::exact:
      return "exact";
    case Step::same_bucket:
      return "same bucket";
    case Step::neighbour_bucket:
      return "neighbouring bucket";
    case Step::same_arch:
      return "same architecture";
    case Step::fallback:
      return "default";
    case Step::refused:
      break;
  }
  return "refused";
}

}  // namespace fatune_attention
