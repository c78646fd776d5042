#include "measure/verification.hpp"

#include <bit>
#include <stdexcept>

#include <fmt/format.h>

#include "measure/memory_plan.hpp"
#include "model/error_rule.hpp"

namespace fatune {

References::References(const Problem& problem, std::uint64_t seed, const gpu::Stream& stream) {
  const RowSample sample = sample_rows(problem, seed);
  const auto row_count = static_cast<std::int64_t>(sample.rows.size());
  rows_per_head_ = sample.rows_per_head;
  elements_ = row_count * problem.d_head_v;
  rows_ = gpu::DeviceBuffer(row_count * static_cast<std::int64_t>(sizeof(std::int32_t)));
  exact_ = gpu::DeviceBuffer(elements_ * static_cast<std::int64_t>(sizeof(float)));
  rounded_ = gpu::DeviceBuffer(elements_ * element_bytes(output_dtype(problem)));
  gpu::copy_to_device_async(rows_.address(), sample.rows.data(), rows_.bytes(), stream);
  stream.synchronize();  // the positions are copied from memory that is freed here
}

Stage::Stage(const Problem& problem, InputKind kind, std::uint64_t seed,
             const MeasurementModule& kernels, const gpu::Stream& stream)
    : problem_(problem),
      kind_(kind),
      seed_(seed),
      kernels_(kernels),
      stream_(stream),
      tensors_(problem, kind),
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
  FillInputsArgs args = fill_args(seed);
  if (has_fitted_scales(kind_)) {
    args.fits_scales = 1;
    kernels_.fill_inputs(args, stream_);
    args.fits_scales = 0;
  }
  kernels_.fill_inputs(args, stream_);
}

FillInputsArgs Stage::fill_args(std::uint64_t seed) const {
  TensorView values = tensors_.view(TensorRole::v);
  values.rows = is_view(problem_, TensorRole::v) ? 0 : values.rows;
  return {tensors_.view(TensorRole::q),
          tensors_.view(TensorRole::k),
          values,
          seed,
          static_cast<int>(kind_),
          0,
          tensors_.key_lengths(),
          tensors_.packed_rows(),
          tensors_.pages(),
          tensors_.scales()};
}

// The unrounded reference comes first, as it writes to the rounded one.
void Stage::compute_references() {
  if (has_fitted_scales(kind_)) {
    unrounded_.emplace(UnroundedAttentionArgs{reference_args(), fill_args(seed_)},
                       references_.elements(), problem_, kernels_, stream_);
  }
  kernels_.compute_references(reference_args(), problem_, stream_);
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
          static_cast<int>(problem_.window),
          tensors_.key_lengths(),
          problem_.softcap,
          tensors_.sinks(),
          tensors_.packed_rows(),
          tensors_.pages(),
          tensors_.scales()};
}

const OutputSet& Stage::outputs(const std::vector<KernelBuffer>& buffers) const {
  const std::vector<KernelBuffer> list = outputs_of(buffers);
  const auto found = further_->sets.find(list);
  if (found != further_->sets.end()) {
    return found->second;
  }
  const OutputSet& made = further_->sets.try_emplace(list, list, stream_).first->second;
  if (made.has_row_values() && !further_->references) {
    restore();  // a kernel that has not been found out yet may have written to the inputs
    further_->references.emplace(problem_, reference_args(), tensors_.greatest_key_scale(stream_),
                                 kernels_, stream_);
  }
  return made;
}

void Stage::poison_output(const std::vector<KernelBuffer>& buffers) const {
  tensors_.poison_output(stream_);
  further_->current = has_outputs(buffers) ? &outputs(buffers) : nullptr;
  if (further_->current != nullptr) {
    further_->current->poison(stream_);
  }
}

void Stage::queue_input_sum(InputSum* sum) const {
  kernels_.sum_inputs(tensors_.input_sum_args(sum), stream_);
  for (const SmallInput& input : tensors_.small_inputs()) {
    kernels_.sum_tensor(input.memory.as<const void>(), input.bytes(), sum, stream_);
  }
}

InputSum Stage::sum_inputs() const {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(InputSum));
  const gpu::DeviceBuffer on_device(kBytes);
  InputSum sum;
  gpu::fill_words_async(on_device.address(), 0, kBytes / 4, stream_);
  queue_input_sum(on_device.as<InputSum>());
  gpu::copy_to_host_async(&sum, on_device.address(), kBytes, stream_);
  stream_.synchronize();
  return sum;
}

void Stage::queue_fingerprint(InputSum* sum) const {
  kernels_.sum_tensor(tensors_.view(TensorRole::o).data, tensor_bytes(problem_, TensorRole::o), sum,
                      stream_);
  if (further_->current != nullptr) {
    further_->current->queue_fingerprint(sum, kernels_, stream_);
  }
}

CompareArgs Stage::compare_args(CheckCounts* counts) const {
  RowSelection selection = references_.selection();
  selection.has_outliers = kind_ == InputKind::outliers ? 1 : 0;
  return {tensors_.view(TensorRole::o),
          selection,
          references_.exact(),
          references_.rounded(),
          counts,
          static_cast<unsigned long long>(references_.elements()),
          static_cast<float>(kMismatchAtol),
          static_cast<float>(kMismatchRtol)};
}

void Stage::queue_check(CheckCounts* counts) const {
  kernels_.compare_output(compare_args(counts), stream_);
  kernels_.scan_output(tensors_.view(TensorRole::o).data, tensor_elements(problem_, TensorRole::o),
                       counts, stream_);
  kernels_.check_guards(tensors_.guard_args(), Tensors::kGuardBands, counts, stream_);
  queue_input_sum(&counts->inputs);
  if (unrounded_) {
    unrounded_->queue_compare(compare_args(nullptr), kernels_, stream_);
  }
  if (further_->current != nullptr) {
    further_->current->queue_check(further_->reference(), kernels_, stream_);
  }
}

void Stage::set_quantization_error(ErrorStats& stats) const {
  if (unrounded_) {
    unrounded_->set_error(stats);
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

namespace {

// The seed of the first set is `seed` itself.
std::uint64_t seed_of_set(std::uint64_t seed, int set) {
  constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15U;
  return seed + kGoldenRatio * static_cast<std::uint64_t>(set);
}

double from_bits(unsigned bits) { return static_cast<double>(std::bit_cast<float>(bits)); }

ErrorStats stats_of(const Stage& stage, const CheckCounts& counts) {
  if (counts.bad_reference > 0) {
    throw std::logic_error("a reference output is not finite: the reference kernel is wrong");
  }
  ErrorStats stats;
  stats.input = input_kind_name(stage.kind());
  stats.max_abs_error = from_bits(counts.max_abs_error_bits);
  if (limits_difference(stage.problem())) {
    stats.max_abs_difference = from_bits(counts.max_abs_difference_bits);
  }
  stats.max_abs_reference_error = from_bits(counts.max_abs_reference_error_bits);
  stats.limit = error_limit(stats.max_abs_reference_error, from_bits(counts.max_abs_reference_bits),
                            output_dtype(stage.problem()));
  stats.elements = static_cast<std::int64_t>(counts.compared);
  stats.mismatched = static_cast<std::int64_t>(counts.mismatched);
  stats.not_finite = static_cast<std::int64_t>(counts.not_finite);
  stats.guard_bytes_changed = static_cast<std::int64_t>(counts.guard_bytes_changed);
  stage.set_quantization_error(stats);
  return stats;
}

// The error if the check did not run; empty: it ran. A driver that runs nothing finds no fault
// either.
std::optional<std::string> find_missing_check(const Stage& stage, const CheckCounts& counts) {
  const auto to_compare = static_cast<unsigned long long>(stage.references().elements());
  const auto to_scan =
      static_cast<unsigned long long>(tensor_elements(stage.problem(), TensorRole::o));
  if (counts.compared == to_compare && counts.scanned == to_scan) {
    return std::nullopt;
  }
  return fmt::format(
      "input {}: the check did not run: {} of {} values were compared, {} of {} scanned",
      input_kind_name(stage.kind()), counts.compared, to_compare, counts.scanned, to_scan);
}

std::optional<std::string> find_any_fault(const Stage& stage, const CheckCounts& counts,
                                          const ErrorStats& stats) {
  if (auto missing = find_missing_check(stage, counts)) {
    return missing;
  }
  if (auto missing = stage.find_missing_output_check()) {
    return fmt::format("input {}: {}", input_kind_name(stage.kind()), *missing);
  }
  if (stage.inputs_changed(counts)) {
    return fmt::format("input {}: wrote into its inputs", input_kind_name(stage.kind()));
  }
  return find_fault(stats);
}

RowMismatches as_lists(const Stage& stage, RowSample sample, std::span<const RowCounts> counts) {
  RowMismatches rows;
  rows.input = input_kind_name(stage.kind());
  rows.rows_per_head = sample.rows_per_head;
  rows.row = std::move(sample.rows);
  for (const RowCounts& count : counts) {
    rows.mismatched.push_back(static_cast<std::int32_t>(count.mismatched));
    rows.beyond_limit.push_back(static_cast<std::int32_t>(count.beyond_limit));
  }
  return rows;
}

void check_sum(const RowMismatches& rows, const ErrorStats& stats) {
  if (sum_of<std::int64_t>(rows.mismatched, std::identity()) != stats.mismatched) {
    throw std::logic_error("the rows' mismatches do not add up to those of the whole output");
  }
}

// Counts, for every compared row of the current output of `stage`, the elements that mismatch and
// those beyond `stats.limit`; `stats` are those of the same output. Waits for the device. Throws
// gpu::DriverError, and std::logic_error if the rows do not add up to `stats`.
RowMismatches count_rows(const Stage& stage, const ErrorStats& stats, const gpu::Stream& stream) {
  RowSample sample = stage.compared_rows();
  const std::size_t count = sample.rows.size();
  const auto bytes = static_cast<std::int64_t>(count * sizeof(RowCounts));
  const gpu::DeviceBuffer on_device(bytes);
  const gpu::PinnedBuffer on_host(bytes);
  gpu::fill_words_async(on_device.address(), 0, bytes / 4, stream);
  stage.queue_row_counts(on_device.as<RowCounts>(), static_cast<float>(stats.limit));
  gpu::copy_to_host_async(on_host.host(), on_device.address(), bytes, stream);
  stream.synchronize();
  RowMismatches rows =
      as_lists(stage, std::move(sample), {on_host.host_as<const RowCounts>(), count});
  check_sum(rows, stats);
  return rows;
}

std::size_t stage_of(int launch) { return static_cast<std::size_t>(launch % 2); }

}  // namespace

Verifier::Verifier(const Problem& problem, const std::optional<Problem>& part, std::uint64_t seed,
                   const MeasurementModule& kernels, const gpu::Stream& stream, bool count_rows)
    : problem_(problem), seed_(seed), count_rows_(count_rows), kernels_(kernels), stream_(stream) {
  const int sets = part ? 2 * kInputSets : kInputSets;
  for (int set = 0; set < sets; ++set) {
    normal_.emplace_back(set < kInputSets ? problem : *part, InputKind::normal,
                         seed_of_set(seed, set), kernels, stream);
  }
}

const Stage& Verifier::probe(InputKind kind, Where where) {
  const auto found = probes_.find({kind, where});
  if (found != probes_.end()) {
    return found->second;
  }
  const Problem on = problem_of(where);
  return probes_
      .emplace(std::piecewise_construct, std::forward_as_tuple(kind, where),
               std::forward_as_tuple(on, kind, seed_, kernels_, stream_))
      .first->second;
}

std::string Verifier::method(const Stage& normal, Where others) const {
  const Problem& on = normal.problem();
  const Problem other = problem_of(others);
  std::string text = "gpu references, " + describe_rows(on);
  if (on != problem_) {
    text += fmt::format(" on batch {}", on.batch);
  }
  if (other != on) {
    text += fmt::format(
        "; other inputs than normal on batch {}, heads {}{}: {}", other.batch, other.heads,
        other.seq_len == on.seq_len ? std::string() : fmt::format(", {} positions", other.seq_len),
        describe_rows(other));
  }
  return text;
}

void Verifier::judge(const Stage& stage, const CheckCounts& counts, OutputVerdict& verdict) const {
  Verification& verification = verdict.verification;
  const ErrorStats stats = verification.inputs.emplace_back(stats_of(stage, counts));
  if (!verdict.finding) {
    verdict.finding = find_any_fault(stage, counts, stats);
  }
  if (count_rows_) {
    verification.rows.push_back(count_rows(stage, stats, stream_));
  }
  bool damaged = counts.guard_bytes_changed > 0 || stage.inputs_changed(counts);
  for (ErrorStats& output : stage.output_stats()) {
    damaged = damaged || output.guard_bytes_changed > 0;
    verdict.finding = verdict.finding ? verdict.finding : find_fault(output);
    verification.inputs.push_back(std::move(output));
  }
  if (damaged) {
    verdict.damaged = true;
    stage.restore();
  }
}

OutputVerdict Verifier::check(std::span<const Stage* const> stages) const {
  gpu::fill_words_async(device_counts_.address(), 0, device_counts_.bytes() / 4, stream_);
  CheckCounts* on_device = device_counts_.as<CheckCounts>();
  for (const Stage* const stage : stages) {
    stage->queue_check(on_device++);
  }
  gpu::copy_to_host_async(host_counts_.host(), device_counts_.address(), device_counts_.bytes(),
                          stream_);
  stream_.synchronize();
  const auto* counts = host_counts_.host_as<const CheckCounts>();
  OutputVerdict verdict{{method(normal_.front(), Where::probe), seed_, {}}, std::nullopt, false};
  for (const Stage* const stage : stages) {
    judge(*stage, *counts++, verdict);
  }
  return verdict;
}

void RepeatedLaunches::queue(const Stages& stages,
                             const std::array<KernelLaunch, 2>& launches) const {
  gpu::fill_words_async(device_sums_.address(), 0, device_sums_.bytes() / 4, stream_);
  for (int i = 0; i < kLaunches; ++i) {
    const Stage& stage = *stages.at(stage_of(i));
    stage.poison_output(launches.at(stage_of(i)).buffers());
    launches.at(stage_of(i)).queue(stream_);
    stage.queue_fingerprint(device_sums_.as<InputSum>() + i);
  }
  gpu::copy_to_host_async(host_sums_.host(), device_sums_.address(), device_sums_.bytes(), stream_);
}

// Whether all outputs of a stage have the fingerprint of its last one.
bool RepeatedLaunches::left_the_same() const {
  const auto* const sums = host_sums_.host_as<const InputSum>();
  bool same = true;
  for (int i = 0; i < kLaunches; ++i) {
    const InputSum& last = sums[kLaunches - 2 + stage_of(i)];
    same = same && sums[i].plain == last.plain && sums[i].mixed == last.mixed;
  }
  return same;
}

// Repeats the launches and checks each one. Returns the verdict on the first wrong launch, or on
// the last two.
OutputVerdict RepeatedLaunches::check_each(const Stages& stages,
                                           const MakeLaunch& make_launch) const {
  OutputVerdict verdict;
  for (int i = 0; i < kLaunches; ++i) {
    const Stage& stage = *stages.at(stage_of(i));
    const KernelLaunch launch = make_launch(stage);
    stage.poison_output(launch.buffers());
    launch.queue(stream_);
    verdict = verifier_.check(stages);
    if (verdict.finding) {
      verdict.finding =
          fmt::format("launch {} of {} in a row: {}", i + 1, kLaunches, *verdict.finding);
      return verdict;
    }
  }
  return verdict;
}

RepeatedLaunches::Result RepeatedLaunches::run(const Stages& stages,
                                               const MakeLaunch& make_launch) const {
  const std::array<KernelLaunch, 2> launches{make_launch(*stages[0]), make_launch(*stages[1])};
  queue(stages, launches);
  OutputVerdict verdict = verifier_.check(stages);  // waits for all
  if (verdict.finding) {
    verdict.finding =
        fmt::format("the last of {} launches in a row: {}", kLaunches, *verdict.finding);
    return {std::move(verdict), true};
  }
  return left_the_same() ? Result{std::move(verdict), true}
                         : Result{check_each(stages, make_launch), false};
}

}  // namespace fatune
