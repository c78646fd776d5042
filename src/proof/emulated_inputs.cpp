#include "proof/emulated_inputs.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "model/error_rule.hpp"
#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"
#include "model/scale_rows.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

// 32 bits of poison: a NaN as fp32, and each half a NaN as fp16 and bf16.
constexpr std::array<std::uint8_t, 4> kPoisonBytes{0xa5, 0x7f, 0xa5, 0x7f};
constexpr std::uint16_t kPoisonElement = 0x7fa5;
constexpr std::uint16_t kEightBitPoison = 0xff;  // a NaN in both formats

std::uint16_t poison_of(DType dtype) {
  return has_eight_bits(dtype) ? kEightBitPoison : kPoisonElement;
}

bool is_untouched(std::span<const std::uint8_t> bytes) {
  std::size_t at = 0;
  return std::ranges::all_of(bytes, [&](std::uint8_t byte) {
    return byte == kPoisonBytes.at(at++ % kPoisonBytes.size());
  });
}

/// Returns the values of the compared part.
std::vector<float> compared_values(const EmulatedProblem& on, const FurtherOutput& output) {
  std::vector<float> values(output.bytes.size() / sizeof(float));
  std::memcpy(values.data(), output.bytes.data(), values.size() * sizeof(float));
  if (!on.only_head) {
    return values;
  }
  const auto first = values.begin() + *on.only_head * on.problem.seq_len;
  return {first, first + on.problem.seq_len};
}

// The difference between the seeds of neighbouring heads. It is large, so that the next seed of a
// run is not the seed of a neighbouring head.
constexpr std::uint64_t kSeedStride = 1'000'003;

/// A head of a sequence's rows in a tensor: where they begin, and how many there are.
struct HeadRows {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t first;
  std::int64_t count;
};

/// Returns the element of `dtype` for one of `from_dtype`, divided by a scale.
std::uint16_t scaled_element(std::uint16_t element, DType from_dtype, double scale, DType dtype) {
  return round_to_element(element_value(element, from_dtype) / scale, dtype);
}

/// Copies the first rows of a head to their places, where their elements may have 8 bits.
/// place, scale_place: of a row's first element, and of its scale; scales: empty: there are none
template <typename Place, typename ScalePlace>
void put_rows(const Problem& problem, TensorRole role, std::int64_t count,
              const std::vector<std::uint16_t>& rows, const std::vector<float>& scales,
              const Place& place, const ScalePlace& scale_place,
              std::vector<std::uint16_t>& tensor) {
  const std::int64_t columns = tensor_shape(problem, role).columns;
  for (std::int64_t row = 0; row < count; ++row) {
    const auto from = rows.begin() + row * columns;
    const auto target = tensor.begin() + place(row);
    if (scales.empty()) {
      std::copy(from, from + columns, target);
      continue;
    }
    const double scale = scales[static_cast<std::size_t>(scale_place(row))];
    std::transform(from, from + columns, target, [&](std::uint16_t element) {
      return scaled_element(element, output_dtype(problem), scale, dtype_of(problem, role));
    });
  }
}

/// The place of the scale of a row of a head.
auto place_of_scale(const Problem& problem, TensorRole role, const HeadRows& of) {
  return [of, scale_rows = ScaleRows(problem, role)](std::int64_t row) {
    return scale_rows.offset(of.batch, of.first + row, of.head);
  };
}

/// Raises the scales of the first rows of a head to those that fit its elements of 16 bits.
/// scale_place: as in put_rows(); scales: empty: there are none
template <typename ScalePlace>
void fit_rows(const Problem& problem, TensorRole role, std::int64_t count,
              const std::vector<std::uint16_t>& rows, const ScalePlace& scale_place,
              std::vector<float>& scales) {
  const std::int64_t columns = tensor_shape(problem, role).columns;
  for (std::int64_t i = 0; !scales.empty() && i < count * columns; ++i) {
    fit_scale(problem, element_value(rows[static_cast<std::size_t>(i)], output_dtype(problem)),
              scales[static_cast<std::size_t>(scale_place(i / columns))]);
  }
}

/// put_rows() of Q. scales: scale_shape()
void put_queries(const Problem& problem, const HeadRows& to, const std::vector<std::uint16_t>& rows,
                 const std::vector<float>& scales, std::vector<std::uint16_t>& tensor) {
  const TensorShape shape = tensor_shape(problem, TensorRole::q);
  put_rows(
      problem, TensorRole::q, to.count, rows, scales,
      [&](std::int64_t row) { return shape.row_offset(to.batch, to.first + row, to.head); },
      place_of_scale(problem, TensorRole::q, to), tensor);
}

/// The same of keys, which may be in pages.
void put_keys(const Problem& problem, TensorRole role, const HeadRows& to,
              const std::vector<std::uint16_t>& rows, const std::vector<float>& scales,
              std::vector<std::uint16_t>& tensor) {
  const KeyRows places(problem, role);
  put_rows(
      problem, role, to.count, rows, scales,
      [&](std::int64_t key) { return places.offset(to.batch, to.first + key, to.head); },
      place_of_scale(problem, role, to), tensor);
}

/// Returns a head of the only sequence of a pool of pages, as take_head() does of others. Rows
/// behind its end are poison.
std::vector<std::uint16_t> take_keys(const Problem& problem, TensorRole role, std::int64_t head,
                                     const std::vector<std::uint16_t>& pool) {
  const KeyRows keys(problem, role);
  const std::int64_t columns = tensor_shape(problem, role).columns;
  std::vector<std::uint16_t> rows;
  for (std::int64_t key = 0; key < kv_lengths(problem).front(); ++key) {
    const auto from = pool.begin() + keys.offset(0, key, head);
    rows.insert(rows.end(), from, from + columns);
  }
  rows.resize(static_cast<std::size_t>(problem.seq_len_kv * columns),
              poison_of(dtype_of(problem, role)));
  return rows;
}

/// Returns a head's rows, one after the other, whatever the layout of the tensor.
std::vector<std::uint16_t> take_head(const TensorShape& shape, std::int64_t batch,
                                     std::int64_t head, const std::vector<std::uint16_t>& tensor) {
  std::vector<std::uint16_t> rows;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const auto from = tensor.begin() + shape.row_offset(batch, row, head);
    rows.insert(rows.end(), from, from + shape.columns);
  }
  return rows;
}

/// A head of a sequence, in 16 bits. Without queries or keys, it has one that is not used.
HeadProblem head_of(const Problem& problem, const Sequence& sequence) {
  HeadProblem head;
  head.seq_len = std::max<std::int64_t>(sequence.queries, 1);
  head.d_head = problem.d_head;
  head.dtype = output_dtype(problem);
  head.seq_len_kv = std::max<std::int64_t>(sequence.keys, 1);
  head.d_head_v = problem.d_head_v;
  head.latent = problem.latent;
  return head;
}

std::int64_t compared_group(const EmulatedProblem& on) {
  return *on.only_head / group_size(on.problem);
}

/// Returns the group whose seed a group uses. If only one head is compared, all groups other than
/// its own use one seed, so their inputs are made once. The seed differs from that of the compared
/// group, so a kernel that reads a wrong head is found.
std::int64_t seeded_group(const EmulatedProblem& on, std::int64_t group) {
  if (!on.only_head || group == compared_group(on)) {
    return group;
  }
  return compared_group(on) == 0 ? 1 : 0;
}

/// A head of keys: its group's inputs, its rows of K and V, and those of the group's first head of
/// Q.
struct PlacedGroup {
  std::shared_ptr<const GroupInputs> inputs;
  HeadRows keys;
  HeadRows queries;
};

/// Makes the inputs of all heads. A key head and the query heads that share it have one seed.
std::vector<PlacedGroup> make_groups(const EmulatedProblem& on, InputKind kind,
                                     std::uint64_t seed) {
  const Problem& problem = on.problem;
  const std::vector<Sequence> sequences = sequences_of(problem);
  const std::int64_t group = group_size(problem);
  std::map<std::int64_t, std::shared_ptr<const GroupInputs>> made;
  std::vector<PlacedGroup> groups;
  for (std::int64_t number = 0; number < problem.batch * problem.kv_heads; ++number) {
    const Sequence& at = sequences[static_cast<std::size_t>(number / problem.kv_heads)];
    const std::int64_t head = number % problem.kv_heads;
    const std::int64_t seeded = seeded_group(on, number);
    const auto [one, is_new] = made.try_emplace(seeded);
    if (is_new) {
      one->second = std::make_shared<const GroupInputs>(
          make_group_inputs(head_of(problem, at), group, kind,
                            seed + static_cast<std::uint64_t>(seeded) * kSeedStride));
    }
    groups.push_back({one->second,
                      HeadRows{at.batch, head, at.first_key, at.queries == 0 ? 0 : at.keys},
                      HeadRows{at.batch, head * group, at.first_query, at.queries}});
  }
  return groups;
}

/// The rows of another head of Q of a group.
HeadRows in_group(HeadRows first, std::size_t number) {
  first.head += static_cast<std::int64_t>(number);
  return first;
}

/// Raises the scales to those that fit all inputs.
void fit_scales(const Problem& problem, const std::vector<PlacedGroup>& groups, HeadInputs& all) {
  for (const PlacedGroup& group : groups) {
    const GroupInputs& inputs = *group.inputs;
    for (const std::size_t i : indices_of(inputs.q)) {
      const HeadRows of = in_group(group.queries, i);
      fit_rows(problem, TensorRole::q, of.count, inputs.q[i],
               place_of_scale(problem, TensorRole::q, of), all.q_scales);
    }
    const auto place = place_of_scale(problem, TensorRole::k, group.keys);
    fit_rows(problem, TensorRole::k, group.keys.count, inputs.k, place, all.k_scales);
    fit_rows(problem, TensorRole::v, group.keys.count, inputs.v, place, all.v_scales);
  }
}

/// Puts the inputs of all heads in their places, and makes what else a problem has. Rows of K and V
/// behind a sequence's end, of packed sequences without queries, and of pages of no
/// sequence, are NaN, which shows if a kernel uses them.
HeadInputs make_tensors(const EmulatedProblem& on, InputKind kind,
                        const std::vector<PlacedGroup>& groups) {
  const Problem& problem = on.problem;
  const auto empty = [&](TensorRole role) {
    return std::vector<std::uint16_t>(static_cast<std::size_t>(tensor_elements(problem, role)),
                                      poison_of(dtype_of(problem, role)));
  };
  HeadInputs all{empty(TensorRole::q), empty(TensorRole::k), empty(TensorRole::v),
                 make_sinks(problem, kind),
                 has_pages(problem) ? page_table(problem) : std::vector<std::int32_t>{}};
  if (has_scales(problem)) {
    all.k_scales = make_scales(problem, TensorRole::k, kind);
    all.v_scales = make_scales(problem, TensorRole::v, kind);
  }
  if (has_query_scales(problem)) {
    all.q_scales = make_scales(problem, TensorRole::q, kind);
  }
  if (has_fitted_scales(kind)) {
    fit_scales(problem, groups, all);
  }
  for (const PlacedGroup& group : groups) {
    for (const std::size_t i : indices_of(group.inputs->q)) {
      put_queries(problem, in_group(group.queries, i), group.inputs->q[i], all.q_scales, all.q);
    }
    put_keys(problem, TensorRole::k, group.keys, group.inputs->k, all.k_scales, all.k);
    if (!problem.latent) {
      put_keys(problem, TensorRole::v, group.keys, group.inputs->v, all.v_scales, all.v);
    }
  }
  return all;
}

/// Calls use(scale, row) for the rows of a tensor in the compared part, in the order of
/// compared_elements(). A row that no sequence has is left out.
template <typename Use>
void for_each_scale(const EmulatedProblem& on, TensorRole role, const std::vector<float>& scales,
                    Use use) {
  const bool of_queries = role == TensorRole::q;
  const ScaleRows scale_rows(on.problem, role);
  const auto scale = [&](std::int64_t batch, std::int64_t row, std::int64_t head) {
    return scales[static_cast<std::size_t>(scale_rows.offset(batch, row, head))];
  };
  const KeyRows keys(on.problem, role);
  const TensorShape shape = tensor_shape(on.problem, role);
  for (const Sequence& of : sequences_of(on.problem)) {
    const std::int64_t first = of_queries ? of.first_query : of.first_key;
    for (std::int64_t row = first; row < first + (of_queries ? of.queries : of.keys); ++row) {
      if (on.only_head) {
        use(scale(0, row, of_queries ? *on.only_head : compared_group(on)), row);
        continue;
      }
      for (std::int64_t head = 0; head < shape.heads; ++head) {
        const std::int64_t place =
            of_queries ? shape.row_offset(of.batch, row, head) : keys.offset(of.batch, row, head);
        use(scale(of.batch, row, head), place / shape.columns);
      }
    }
  }
}

/// The values of a tensor's elements in the compared part.
std::vector<double> compared_numbers(const EmulatedProblem& on, TensorRole role,
                                     const HeadInputs& tensors) {
  const auto& elements = role == TensorRole::q                          ? tensors.q
                         : stored_in(on.problem, role) == TensorRole::k ? tensors.k
                                                                        : tensors.v;
  std::vector<double> numbers =
      element_values(compared_elements(on, role, elements), dtype_of(on.problem, role));
  const auto& scales = role == TensorRole::q   ? tensors.q_scales
                       : role == TensorRole::k ? tensors.k_scales
                                               : tensors.v_scales;
  if (!scales.empty()) {
    const std::int64_t columns = tensor_shape(on.problem, role).columns;
    for_each_scale(on, role, scales, [&](float scale, std::int64_t row) {
      const auto first = numbers.begin() + row * columns;
      std::for_each(first, first + columns, [&](double& x) { x *= double{scale}; });
    });
  }
  return numbers;
}

/// The scales that keys of the compared part have of their own, one for each row of V; empty if
/// they have none. Rows that no sequence has have 1.
std::vector<float> compared_scales(const EmulatedProblem& on, const HeadInputs& tensors,
                                   std::int64_t rows) {
  if (!keys_have_scales(on.problem)) {
    return {};
  }
  std::vector<float> scales(static_cast<std::size_t>(rows), 1.0F);
  for_each_scale(on, TensorRole::v, tensors.v_scales, [&](float scale, std::int64_t row) {
    scales[static_cast<std::size_t>(row)] = scale;
  });
  return scales;
}

/// The sinks of the compared heads; empty if they have none.
std::vector<float> compared_sinks(const EmulatedProblem& on, const HeadInputs& tensors) {
  return on.only_head && !tensors.sinks.empty()
             ? std::vector{tensors.sinks[static_cast<std::size_t>(*on.only_head)]}
             : tensors.sinks;
}

RowReference make_row_reference(const EmulatedProblem& on, const HeadInputs& tensors) {
  const std::vector<double> q = compared_numbers(on, TensorRole::q, tensors);
  const std::vector<double> k = compared_numbers(on, TensorRole::k, tensors);
  const Problem part = compared_part(on);
  return {cpu_row_statistics(part, q, k, compared_sinks(on, tensors)),
          row_value_limit(part, greatest_norm(q, part.d_head) * greatest_norm(k, part.d_head))};
}

/// The problem with elements of 16 bits in all tensors.
EmulatedProblem without_eight_bits(EmulatedProblem on) {
  on.problem.kv_scales = KvScales::tensor;
  on.problem.dtype = on.problem.kv_dtype = output_dtype(on.problem);
  return on;
}

/// The exact reference of the same inputs in 16 bits: as they are before they are rounded to 8.
std::vector<double> exact_without_eight_bits(const EmulatedProblem& on, InputKind kind,
                                             const std::vector<PlacedGroup>& groups) {
  const EmulatedProblem plain = without_eight_bits(on);
  const HeadInputs tensors = make_tensors(plain, kind, groups);
  return cpu_attention(compared_part(plain), compared_numbers(plain, TensorRole::q, tensors),
                       compared_numbers(plain, TensorRole::k, tensors),
                       compared_numbers(plain, TensorRole::v, tensors),
                       compared_sinks(plain, tensors));
}

EmulatedInput make_input(const EmulatedProblem& on, InputKind kind, std::uint64_t seed) {
  EmulatedInput input;
  input.name = input_kind_name(kind);
  const std::vector<PlacedGroup> groups = make_groups(on, kind, seed);
  input.tensors = make_tensors(on, kind, groups);
  const std::vector<double> q = compared_numbers(on, TensorRole::q, input.tensors);
  const std::vector<double> k = compared_numbers(on, TensorRole::k, input.tensors);
  const std::vector<double> v = compared_numbers(on, TensorRole::v, input.tensors);
  const Problem part = compared_part(on);
  const std::vector<float> sinks = compared_sinks(on, input.tensors);
  input.exact = cpu_attention(part, q, k, v, sinks);
  input.units = column_units(part, kind);
  input.unrounded =
      has_fitted_scales(kind) ? exact_without_eight_bits(on, kind, groups) : std::vector<double>();
  input.rounded = cpu_rounded_attention(
      part, q, k, v, sinks, compared_scales(on, input.tensors, std::ssize(v) / part.d_head_v));
  return input;
}

std::uint32_t most_resident_blocks(const LaunchGeometry& launch, const DeviceLimits& limits) {
  constexpr int kNotKnown = 0;  // registers per thread
  const auto threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
  const int of_sm = blocks_per_sm(limits, threads, kNotKnown, launch.dynamic_smem_bytes);
  return static_cast<std::uint32_t>(std::max(1, of_sm) * std::max(1, limits.sm_count));
}

}  // namespace

emulate::Allocation poisoned_output(const KernelBuffer& output) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(output.bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = kPoisonBytes.at(i % kPoisonBytes.size());
  }
  return {.name = output.name,
          .bytes = std::move(bytes),
          .shape = output.shape,
          .element_bytes = output.bytes / output.elements()};
}

FurtherOutput further_output(const KernelBuffer& output, const emulate::Allocation& left) {
  return {output.name, find_enum<RowValue>(output.output), left.element_bytes, left.bytes};
}

ErrorStats compare_further(const std::string& input, const EmulatedProblem& on,
                           const FurtherOutput& output, const RowReference* reference) {
  ErrorStats stats;
  if (output.what) {
    stats = compare_row_values(output.name, *output.what, compared_values(on, output),
                               reference->rows, reference->limit);
  } else if (is_untouched(output.bytes)) {
    stats.not_finite = output.elements();
  }
  stats.input = input;
  stats.output = output.name;
  return stats;
}

std::int64_t count_different(const FurtherOutput& a, const FurtherOutput& b) {
  std::int64_t different = 0;
  const auto step = static_cast<std::size_t>(a.element_bytes);
  for (std::size_t i = 0; i < a.bytes.size(); i += step) {
    different += std::memcmp(&a.bytes[i], &b.bytes[i], step) != 0 ? 1 : 0;
  }
  return different;
}

std::vector<std::uint16_t> compared_elements(const EmulatedProblem& of, TensorRole role,
                                             const std::vector<std::uint16_t>& elements) {
  if (!of.only_head) {
    return elements;
  }
  const bool of_keys = role == TensorRole::k || role == TensorRole::v;
  if (of_keys && has_pages(of.problem)) {
    return take_keys(of.problem, role, compared_group(of), elements);
  }
  return take_head(tensor_shape(of.problem, role), 0, of_keys ? compared_group(of) : *of.only_head,
                   elements);
}

const std::vector<EmulatedInput>& EmulatedInputs::of(const EmulatedProblem& problem) {
  const std::lock_guard lock(mutex_);
  std::vector<EmulatedInput>& inputs = inputs_[problem];
  if (inputs.empty()) {
    inputs = mapped(input_kinds(problem.problem),
                    [&](InputKind kind) { return make_input(problem, kind, seed_); });
  }
  return inputs;
}

const std::vector<RowReference>& EmulatedInputs::row_references(const EmulatedProblem& problem) {
  const std::vector<EmulatedInput>& inputs = of(problem);
  const std::lock_guard lock(mutex_);
  std::vector<RowReference>& rows = rows_[problem];
  if (rows.empty()) {
    rows = mapped(inputs, [&](const EmulatedInput& input) {
      return make_row_reference(problem, input.tensors);
    });
  }
  return rows;
}

const HeadInputs& EmulatedInputs::random_tensors(const Problem& problem) {
  const std::lock_guard lock(mutex_);
  const auto [tensors, is_new] = tensors_.try_emplace(problem);
  if (is_new) {
    const EmulatedProblem on{problem, {}};
    const InputKind kind = kInputKinds.front();
    tensors->second = make_tensors(on, kind, make_groups(on, kind, seed_));
  }
  return tensors->second;
}

Problem compared_part(const EmulatedProblem& of) {
  Problem part = of.problem;
  if (of.only_head) {
    part.heads = part.kv_heads = 1;
    part.page_size = 0;
    part.latent = false;  // the head's values are copied out of its keys
    part.kv_dtype = part.dtype;
    part.kv_scales = KvScales::tensor;
  }
  return part;
}

std::string describe(const EmulatedProblem& problem) {
  const std::string whole = describe(problem.problem);
  return problem.only_head ? fmt::format("{}, head {} alone", whole, *problem.only_head) : whole;
}

EmulatedLaunch planned_launch(const ConfigCase& of) {
  EmulatedLaunch launch;
  launch.on.problem = of.problem;
  launch.geometry = launch_geometry(of);
  launch.shared_tensors = shared_tensors(of);
  launch.resident_blocks = most_resident_blocks(launch.geometry, of.limits);
  return launch;
}

}  // namespace fatune
