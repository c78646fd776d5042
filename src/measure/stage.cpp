#include "measure/stage.hpp"

#include "attention/error_rule.hpp"
#include "attention/row_sample.hpp"

namespace fatune {

References::References(const Problem& problem, std::uint64_t seed, const gpu::Stream& stream) {
  const RowSample sample = sample_rows(problem, seed);
  const auto row_count = static_cast<std::int64_t>(sample.rows.size());
  rows_per_head_ = sample.rows_per_head;
  elements_ = row_count * problem.d_head_v;
  rows_ = gpu::DeviceBuffer(row_count * static_cast<std::int64_t>(sizeof(std::int32_t)));
  exact_ = gpu::DeviceBuffer(elements_ * static_cast<std::int64_t>(sizeof(float)));
  rounded_ = gpu::DeviceBuffer(elements_ * element_bytes(problem.dtype));
  gpu::copy_to_device_async(rows_.address(), sample.rows.data(), rows_.bytes(), stream);
  stream.synchronize();  // the positions are copied from memory that is freed here
}

RowSelection References::selection() const {
  return {rows_.as<const int>(), static_cast<int>(rows_per_head_)};
}

Stage::Stage(const Problem& problem, InputKind kind, std::uint64_t seed,
             const MeasurementModule& kernels, const gpu::Stream& stream)
    : problem_(problem),
      kind_(kind),
      seed_(seed),
      kernels_(kernels),
      stream_(stream),
      tensors_(problem),
      references_(problem, seed, stream) {
  restore();
  compute_references();
  input_sum_ = sum_inputs();
}

void Stage::fill(std::uint64_t seed) const {
  tensors_.poison(stream_);
  for (const auto& [list, outputs] : further_->sets) {
    outputs.poison_with_guards(stream_);
  }
  kernels_.fill_inputs({tensors_.view(TensorRole::q), tensors_.view(TensorRole::k),
                        tensors_.view(TensorRole::v), seed, static_cast<int>(kind_)},
                       tensor_elements(problem_, TensorRole::q), stream_);
}

ReferenceArgs Stage::reference_args() const {
  return {tensors_.view(TensorRole::q),
          tensors_.view(TensorRole::k),
          tensors_.view(TensorRole::v),
          references_.selection(),
          references_.exact(),
          references_.rounded(),
          problem_.softmax_scale,
          problem_.causal ? 1 : 0,
          static_cast<int>(problem_.window)};
}

void Stage::compute_references() const {
  kernels_.compute_references(reference_args(), problem_, stream_);
}

// Restores the inputs first: a kernel that has not been found out yet may have written to them.
void Stage::prepare_row_references() const {
  if (!further_->references) {
    restore();
    further_->references.emplace(problem_, reference_args(), kernels_, stream_);
  }
}

const OutputSet& Stage::outputs(const std::vector<KernelBuffer>& buffers) const {
  const std::vector<KernelBuffer> list = outputs_of(buffers);
  const auto found = further_->sets.find(list);
  if (found != further_->sets.end()) {
    return found->second;
  }
  const OutputSet& made = further_->sets.try_emplace(list, list, stream_).first->second;
  if (made.has_row_values()) {
    prepare_row_references();
  }
  return made;
}

std::optional<gpu::DevicePtr> Stage::find(const std::vector<KernelBuffer>& buffers,
                                          std::string_view name) const {
  const auto of_kernel = has_outputs(buffers) ? outputs(buffers).find(name) : std::nullopt;
  return of_kernel ? of_kernel : tensors_.find(name);
}

void Stage::poison_output(const std::vector<KernelBuffer>& buffers) const {
  tensors_.poison_output(stream_);
  further_->current = has_outputs(buffers) ? &outputs(buffers) : nullptr;
  if (further_->current != nullptr) {
    further_->current->poison(stream_);
  }
}

InputSum Stage::sum_inputs() const {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(InputSum));
  const gpu::DeviceBuffer on_device(kBytes);
  InputSum sum;
  gpu::fill_words_async(on_device.address(), 0, kBytes / 4, stream_);
  kernels_.sum_inputs(tensors_.input_sum_args(on_device.as<InputSum>()), stream_);
  gpu::copy_to_host_async(&sum, on_device.address(), kBytes, stream_);
  stream_.synchronize();
  return sum;
}

void Stage::queue_fingerprint(InputSum* sum) const {
  const void* const output = tensors_.view(TensorRole::o).data;
  const auto elements = static_cast<unsigned long long>(tensor_elements(problem_, TensorRole::o));
  kernels_.sum_tensor({output, output, output, {elements, elements, elements}, sum}, stream_);
  if (further_->current != nullptr) {
    further_->current->queue_fingerprint(sum, kernels_, stream_);
  }
}

CompareArgs Stage::compare_args(CheckCounts* counts) const {
  return {tensors_.view(TensorRole::o),
          references_.selection(),
          references_.exact(),
          references_.rounded(),
          counts,
          static_cast<unsigned long long>(references_.elements()),
          static_cast<float>(kMismatchAtol),
          static_cast<float>(kMismatchRtol)};
}

void Stage::queue_row_counts(RowCounts* rows, float limit) const {
  kernels_.count_rows({compare_args(nullptr), rows, limit}, stream_);
}

void Stage::queue_check(CheckCounts* counts) const {
  kernels_.compare_output(compare_args(counts), stream_);
  kernels_.scan_output(tensors_.view(TensorRole::o).data, tensor_elements(problem_, TensorRole::o),
                       counts, stream_);
  kernels_.check_guards(tensors_.guard_args(), Tensors::kGuardBands, counts, stream_);
  kernels_.sum_inputs(tensors_.input_sum_args(&counts->inputs), stream_);
  if (further_->current != nullptr) {
    further_->current->queue_check(further_->reference(), kernels_, stream_);
  }
}

std::vector<ErrorStats> Stage::output_stats() const {
  std::vector<ErrorStats> all;
  if (further_->current != nullptr) {
    all = further_->current->stats(further_->reference());
  }
  for (ErrorStats& stats : all) {
    stats.input = input_kind_name(kind_);
  }
  return all;
}

std::optional<std::string> Stage::find_missing_output_check() const {
  return further_->current == nullptr
             ? std::nullopt
             : further_->current->find_missing_check(further_->reference());
}

bool Stage::inputs_changed(const CheckCounts& counts) const {
  return counts.inputs.plain != input_sum_.plain || counts.inputs.mixed != input_sum_.mixed;
}

}  // namespace fatune
