#include "measure/tensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "model/error_rule.hpp"
#include "model/flop.hpp"
#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"
#include "model/row_sample.hpp"

namespace fatune {
namespace {

std::int64_t selected_rows(const Problem& problem) {
  return sampled_rows_per_head(problem) * output_heads(problem);
}

std::int64_t multiple_of(std::int64_t unit, std::int64_t bytes) {
  return (bytes + unit - 1) / unit * unit;
}

// A view with the strides of `shape`.
TensorView view_of(const TensorShape& shape, const TensorShape& extents, void* data) {
  return {data,
          shape.batch_stride,
          shape.row_stride,
          shape.head_stride,
          static_cast<int>(extents.batch),
          static_cast<int>(extents.rows),
          static_cast<int>(shape.heads),
          static_cast<int>(shape.columns)};
}

template <typename Tensor>
unsigned long long row_count(const Tensor& tensor) {
  return static_cast<unsigned long long>(tensor.batch) *
         static_cast<unsigned long long>(tensor.rows) *
         static_cast<unsigned long long>(tensor.heads);
}

// A device address as a pointer for a kernel's argument.
template <typename T = void>
T* as_pointer(gpu::DevicePtr address) {
  return reinterpret_cast<T*>(address);
}

constexpr std::int64_t kWord = 4;

gpu::DevicePtr address_in(const gpu::DeviceBuffer& memory) {
  return memory.address() + static_cast<gpu::DevicePtr>(kOutputGuardBytes);
}

// The size of the counts, at least of one output, because there is no pinned memory of 0 bytes.
std::int64_t counts_bytes(std::size_t outputs, std::size_t each) {
  return static_cast<std::int64_t>(std::max<std::size_t>(outputs, 1) * each);
}

// greatest_scale: of K; 1 if it has none
double limit_of_rows(const Problem& problem, const ReferenceArgs& reference, double greatest_scale,
                     const MeasurementModule& kernels, const gpu::Stream& stream) {
  std::array<std::uint32_t, 2> bits{};
  const gpu::DeviceBuffer on_device(sizeof bits);
  gpu::fill_words_async(on_device.address(), 0, bits.size(), stream);
  const TensorShape keys = tensor_shape(problem, TensorRole::k);
  kernels.find_greatest_norms({reference.q,
                               reference.scales,
                               reference.packed,
                               reference.k.data,
                               {row_count(reference.q), row_count(keys)},
                               on_device.as<unsigned>()},
                              stream);
  gpu::copy_to_host_async(bits.data(), on_device.address(), sizeof bits, stream);
  stream.synchronize();
  const auto norm = [](std::uint32_t squared) {
    return std::sqrt(static_cast<double>(std::bit_cast<float>(squared)));
  };
  return row_value_limit(problem, norm(bits[0]) * norm(bits[1]) * greatest_scale);
}

}  // namespace

std::int64_t row_reference_bytes(const Problem& problem) {
  return selected_rows(problem) * static_cast<std::int64_t>(sizeof(RowSoftmax));
}

RowReferences::RowReferences(const Problem& problem, const ReferenceArgs& reference,
                             double greatest_scale, const MeasurementModule& kernels,
                             const gpu::Stream& stream)
    : problem_(problem),
      selection_(reference.selection),
      selected_(selected_rows(problem)),
      rows_(row_reference_bytes(problem)) {
  kernels.compute_row_statistics({reference, rows_.as<RowSoftmax>()}, problem, stream);
  limit_ = limit_of_rows(problem, reference, greatest_scale, kernels, stream);
}

RowValueArgs RowReferences::compare_args(const float* values, RowValue what,
                                         RowValueCounts* counts) const {
  return {values,
          static_cast<unsigned long long>(output_rows(problem_)),
          static_cast<int>(rows_per_output_head(problem_)),
          static_cast<int>(what),
          selection_,
          static_cast<unsigned long long>(selected_),
          rows_.as<const RowSoftmax>(),
          static_cast<float>(limit_),
          counts};
}

ErrorStats RowReferences::stats(const RowValueCounts& counts) const {
  if (counts.bad_reference > 0) {
    throw std::logic_error("a row's reference is not finite: the reference kernel is wrong");
  }
  ErrorStats stats;
  stats.max_abs_error = static_cast<double>(std::bit_cast<float>(counts.max_abs_error_bits));
  stats.limit = limit_;
  stats.elements = static_cast<std::int64_t>(counts.compared);
  stats.mismatched = static_cast<std::int64_t>(counts.mismatched);
  const auto not_finite = static_cast<std::int64_t>(counts.not_finite);
  const std::int64_t surplus =
      static_cast<std::int64_t>(counts.none) - (problem_.sinks ? 0 : rows_without_keys(problem_));
  // Either too many rows are minus infinity, or too few; with sinks none is. Of the latter, those
  // that are NaN are counted already.
  stats.not_finite = not_finite + std::max({surplus, -surplus - not_finite, std::int64_t{0}});
  return stats;
}

Tensors::Tensors(const Problem& problem, InputKind kind)
    : problem_(problem), plan_(plan_stage(problem)), arena_(plan_.tensors_bytes()) {
  if (is_packed(problem)) {
    add_small_input(kQueryStartsTensor, starts_of(query_lengths(problem)));
    add_small_input(kKeyStartsTensor, starts_of(kv_lengths(problem)));
  } else if (!problem.seq_lens_kv.empty()) {
    const std::vector<std::int64_t> lengths = kv_lengths(problem);
    add_small_input(kKeyLengthsTensor, std::vector<std::int32_t>(lengths.begin(), lengths.end()));
  }
  if (problem.sinks) {
    add_small_input(kSinksTensor, make_sinks(problem, kind));
  }
  if (has_pages(problem)) {
    add_small_input(kPageTableTensor, page_table(problem));
  }
  if (has_scales(problem)) {
    add_small_input(kKeyScalesTensor, make_scales(problem, TensorRole::k, kind));
    add_small_input(kValueScalesTensor, make_scales(problem, TensorRole::v, kind));
  }
  if (has_query_scales(problem)) {
    add_small_input(kQueryScalesTensor, make_scales(problem, TensorRole::q, kind));
  }
}

template <typename Word>
void Tensors::add_small_input(std::string_view name, const std::vector<Word>& values) {
  constexpr std::int64_t kSummedAtATime = 4;  // by fatune_sum_inputs, which reads 16 bytes
  SmallInput input{
      name, mapped(values, [](Word word) { return std::bit_cast<std::uint32_t>(word); }), {}};
  input.words.resize(static_cast<std::size_t>(multiple_of(kSummedAtATime, std::ssize(values))));
  input.memory = gpu::DeviceBuffer(input.bytes());
  small_inputs_.push_back(std::move(input));
}

const SmallInput* Tensors::find_small_input(std::string_view name) const {
  const auto found = std::ranges::find(small_inputs_, name, &SmallInput::name);
  return found == small_inputs_.end() ? nullptr : &*found;
}

KeyPages Tensors::pages() const {
  const int* const table = small_input<int>(kPageTableTensor);
  return table == nullptr ? KeyPages{nullptr, 0, 0}
                          : KeyPages{table, static_cast<int>(problem_.page_size),
                                     static_cast<int>(pages_of_sequence(problem_))};
}

std::optional<gpu::DevicePtr> Tensors::find(std::string_view name) const {
  if (const SmallInput* const input = find_small_input(name)) {
    return input->memory.address();
  }
  constexpr std::string_view kNames = "qkvo";
  const std::size_t index = name.size() == 1 ? kNames.find(name) : std::string_view::npos;
  return index == std::string_view::npos ? std::nullopt : std::optional(at(kTensorRoles.at(index)));
}

void Tensors::poison(const gpu::Stream& stream) const {
  gpu::fill_words_async(arena_.address(), poison_word(), arena_.bytes() / 4, stream);
  for (const SmallInput& input : small_inputs_) {
    gpu::copy_to_device_async(input.memory.address(), input.words.data(), input.bytes(), stream);
  }
}

TensorView Tensors::view(TensorRole role) const {
  return tensor_view(problem_, role, as_pointer(at(role)));
}

InputScales Tensors::scales() const {
  const auto view = [&](std::string_view name, TensorRole role) -> TensorView {
    const SmallInput* const scales = find_small_input(name);
    if (scales == nullptr) {
      return {};
    }
    const TensorShape shape = scale_shape(problem_, role);
    return view_of(shape, shape, as_pointer(scales->memory.address()));
  };
  return {view(kKeyScalesTensor, TensorRole::k), view(kValueScalesTensor, TensorRole::v),
          view(kQueryScalesTensor, TensorRole::q), static_cast<int>(scale_block(problem_))};
}

double Tensors::greatest_key_scale(const gpu::Stream& stream) const {
  const SmallInput* const scales = find_small_input(kKeyScalesTensor);
  if (scales == nullptr) {
    return 1.0;
  }
  std::vector<float> values(scales->words.size());
  gpu::copy_to_host_async(values.data(), scales->memory.address(), scales->bytes(), stream);
  stream.synchronize();
  return double{std::ranges::max(values)};
}

TensorView tensor_view(const Problem& problem, TensorRole role, void* data) {
  return view_of(tensor_shape(problem, role), tensor_shape(without_pages(problem), role), data);
}

GuardArgs Tensors::guard_args() const {
  GuardArgs args{arena_.as<const unsigned>(), {}, poison_word()};
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < kTensorRoles.size(); ++i) {
    const auto tensor = static_cast<std::uint64_t>(plan_.tensor_offset(kTensorRoles.at(i)));
    args.bands[i] = {begin, tensor};
    begin = tensor + static_cast<std::uint64_t>(tensor_bytes(problem_, kTensorRoles.at(i)));
  }
  args.bands[kTensorRoles.size()] = {begin, static_cast<std::uint64_t>(arena_.bytes())};
  return args;
}

InputSumArgs Tensors::input_sum_args(InputSum* sum) const {
  const auto bytes = [this](TensorRole role) {
    return static_cast<unsigned long long>(tensor_bytes(problem_, role));
  };
  return {as_pointer(q()),
          as_pointer(k()),
          as_pointer(v()),
          {bytes(TensorRole::q), bytes(TensorRole::k), bytes(TensorRole::v)},
          sum};
}

std::int64_t output_memory_bytes(const KernelBuffer& output) {
  return 2 * kOutputGuardBytes + multiple_of(kTensorAlignmentBytes, output.bytes);
}

bool has_outputs(const std::vector<KernelBuffer>& buffers) {
  return std::ranges::any_of(buffers,
                             [](const KernelBuffer& buffer) { return !buffer.output.empty(); });
}

std::vector<KernelBuffer> outputs_of(const std::vector<KernelBuffer>& buffers) {
  return filtered(buffers, [](const KernelBuffer& buffer) { return !buffer.output.empty(); });
}

OutputSet::OutputSet(const std::vector<KernelBuffer>& outputs, const gpu::Stream& stream)
    : device_counts_(counts_bytes(outputs.size(), sizeof(Counts))),
      host_counts_(counts_bytes(outputs.size(), sizeof(Counts))) {
  for (const KernelBuffer& output : outputs) {
    outputs_.push_back({output, gpu::DeviceBuffer(output_memory_bytes(output))});
  }
  poison_with_guards(stream);
  stream.synchronize();
}

std::optional<gpu::DevicePtr> OutputSet::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(outputs_, [&](const Output& output) { return output.of.name == name; });
  return found == outputs_.end() ? std::nullopt : std::optional(address_in(found->memory));
}

void OutputSet::poison(const gpu::Stream& stream) const {
  for (const Output& output : outputs_) {
    gpu::fill_words_async(address_in(output.memory), Tensors::kPoison,
                          multiple_of(kWord, output.of.bytes) / kWord, stream);
  }
}

void OutputSet::poison_with_guards(const gpu::Stream& stream) const {
  for (const Output& output : outputs_) {
    gpu::fill_words_async(output.memory.address(), Tensors::kPoison, output.memory.bytes() / kWord,
                          stream);
  }
}

// The fingerprint includes the padding, which is poison unless the kernel has written there.
void OutputSet::queue_fingerprint(InputSum* sum, const MeasurementModule& kernels,
                                  const gpu::Stream& stream) const {
  constexpr std::int64_t kChunk = 16;
  for (const Output& output : outputs_) {
    kernels.sum_tensor(as_pointer(address_in(output.memory)), multiple_of(kChunk, output.of.bytes),
                       sum, stream);
  }
}

// The guard bands, in bytes from the beginning of the memory.
GuardArgs OutputSet::bands_around(const Output& output) {
  GuardArgs args{output.memory.as<const unsigned>(), {}, Tensors::kPoison};
  const std::int64_t end = kOutputGuardBytes + multiple_of(kWord, output.of.bytes);
  args.bands[0] = {0, static_cast<std::uint64_t>(kOutputGuardBytes)};
  args.bands[1] = {static_cast<std::uint64_t>(end),
                   static_cast<std::uint64_t>(output.memory.bytes())};
  return args;
}

GuardArgs OutputSet::band_inside(const Output& output) {
  const GuardArgs around = bands_around(output);
  GuardArgs args{around.arena, {}, Tensors::kPoison};
  args.bands[0] = {around.bands[0].end, around.bands[1].begin};
  return args;
}

void OutputSet::queue_check(const RowReferences* references, const MeasurementModule& kernels,
                            const gpu::Stream& stream) const {
  gpu::fill_words_async(device_counts_.address(), 0, device_counts_.bytes() / kWord, stream);
  Counts* counts = device_counts_.as<Counts>();
  for (const Output& output : outputs_) {
    kernels.check_guards(bands_around(output), 2, &counts->around, stream);
    kernels.check_guards(band_inside(output), 1, &counts->inside, stream);
    if (const auto what = find_enum<RowValue>(output.of.output)) {
      const auto* const values = std::bit_cast<const float*>(address_in(output.memory));
      kernels.check_row_values(references->compare_args(values, *what, &counts->values), stream);
    }
    ++counts;
  }
  gpu::copy_to_host_async(host_counts_.host(), device_counts_.address(), device_counts_.bytes(),
                          stream);
}

// An output that cannot be compared is wrong only if nothing at all was written there.
ErrorStats OutputSet::stats_of(std::size_t output, const RowReferences* references) const {
  const KernelBuffer& of = outputs_[output].of;
  const Counts& counts = counts_of(output);
  ErrorStats stats;
  if (find_enum<RowValue>(of.output)) {
    stats = references->stats(counts.values);
  } else if (counts.inside.guard_bytes_changed == 0) {
    stats.not_finite = of.elements();
  }
  stats.output = of.name;
  stats.guard_bytes_changed = static_cast<std::int64_t>(counts.around.guard_bytes_changed);
  return stats;
}

std::vector<ErrorStats> OutputSet::stats(const RowReferences* references) const {
  return mapped(indices_of(outputs_), [&](std::size_t i) { return stats_of(i, references); });
}

std::optional<std::string> OutputSet::find_missing_check(const RowReferences* references) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const RowValueCounts& values = counts_of(i).values;
    if (find_enum<RowValue>(outputs_[i].of.output) && !references->has_seen_all(values)) {
      return fmt::format("{}: the check did not run: {} values were compared, {} scanned",
                         outputs_[i].of.name, values.compared, values.scanned);
    }
  }
  return std::nullopt;
}

}  // namespace fatune
