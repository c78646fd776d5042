#pragma once

// One problem on the GPU: its tensors, its launches, and the check of its output; and the GPU
// functions for that, from the driver's library that the kernel library loads.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"
#include "driver.hpp"
#include "reference.hpp"

namespace example {

inline constexpr int kRight = 0;
inline constexpr int kWrong = 1;
inline constexpr int kNoGpu = 2;

[[noreturn]] inline void end_program(int code, const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(code);
}

inline bool has_function(const char* name) { return detail::driver_function(name) != nullptr; }

/// Returns the CUresult. The parameters' types must be exactly those of the function.
template <typename... Parameters>
int try_call(const char* name, Parameters... parameters) {
  using Function = int (*)(Parameters...);
  const auto function = reinterpret_cast<Function>(detail::driver_function(name));
  return function == nullptr ? -1 : function(parameters...);
}

/// Ends the program if the call fails.
template <typename... Parameters>
void call(const char* name, Parameters... parameters) {
  if (const int error = try_call(name, parameters...); error != 0) {
    end_program(kWrong, std::string(name) + ": " + detail::result_of(error).reason);
  }
}

/// Makes the GPU's context current in the calling thread. Ends the program if there is no GPU.
inline void use_gpu(int ordinal) {
  const Result driver = detail::driver().status;
  if (!driver) {
    end_program(kNoGpu, driver.reason);
  }
  int count = 0;
  if (try_call("cuInit", 0U) != 0 || try_call("cuDeviceGetCount", &count) != 0 ||
      ordinal >= count) {
    end_program(kNoGpu, "there is no GPU " + std::to_string(ordinal));
  }
  void* context = nullptr;
  call("cuDevicePrimaryCtxRetain", &context, ordinal);
  call("cuCtxSetCurrent", context);
}

inline void wait_for(void* stream) { call("cuStreamSynchronize", stream); }

/// A stream that does not wait for the default one.
class Stream {
 public:
  Stream() { call("cuStreamCreate", &stream_, 1U); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { try_call("cuStreamDestroy_v2", stream_); }

  void* get() const { return stream_; }

 private:
  void* stream_ = nullptr;
};

/// Device memory. Copies are complete when the functions return.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
    call("cuMemAlloc_v2", &address_, bytes > 0 ? bytes : 1);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { try_call("cuMemFree_v2", address_); }

  void* data() const { return reinterpret_cast<void*>(address_); }
  std::size_t bytes() const { return bytes_; }

  void fill(std::uint8_t byte, void* stream) {
    call("cuMemsetD8Async", address_, byte, bytes_, stream);
  }
  /// Fills the memory with repetitions of the pattern.
  template <typename Item>
  void fill(const std::vector<Item>& pattern, void* stream) {
    const std::size_t period = pattern.size() * sizeof(Item);
    for (std::size_t at = 0; at < bytes_; at += period) {
      const std::size_t part = bytes_ - at < period ? bytes_ - at : period;
      call("cuMemcpyHtoDAsync_v2", address_ + at, static_cast<const void*>(pattern.data()), part,
           stream);
    }
    wait_for(stream);
  }
  template <typename Item>
  std::vector<Item> read(void* stream) const {
    std::vector<Item> items(bytes_ / sizeof(Item));
    call("cuMemcpyDtoHAsync_v2", static_cast<void*>(items.data()), address_, bytes_, stream);
    wait_for(stream);
    return items;
  }

 private:
  std::uint64_t address_ = 0;
  std::size_t bytes_ = 0;
};

inline constexpr std::uint8_t kPoison = 0xff;  // repeated: NaN in all types

template <DType kDType, KvDType kKvDType>
const Inputs& random_inputs() {
  const auto keys = [](std::uint64_t seed) {
    return kKvDType == KvDType::of_q ? Elements(kDType, 1.0, seed) : Elements(kKvDType, seed);
  };
  static const Inputs inputs{Elements(kDType, 4.0, 1), keys(2), keys(3)};
  return inputs;
}

template <DType kDType>
const Inputs& inputs_of(KvDType kv_dtype) {
  return kv_dtype == KvDType::e4m3   ? random_inputs<kDType, KvDType::e4m3>()
         : kv_dtype == KvDType::e5m2 ? random_inputs<kDType, KvDType::e5m2>()
                                     : random_inputs<kDType, KvDType::of_q>();
}

/// The contents of the examples' tensors.
inline const Inputs& inputs_of(const Problem& problem) {
  return problem.dtype == DType::bf16 ? inputs_of<DType::bf16>(problem.kv_dtype)
                                      : inputs_of<DType::fp16>(problem.kv_dtype);
}

struct Verdict {
  std::size_t rows = 0;  ///< number of rows that were compared
  double worst = 0.0;    ///< greatest error, in tolerances
  std::string fault;     ///< empty: the output is correct

  void note(double error, double tolerance, const std::string& where) {
    const double ratio = std::isnan(error) ? HUGE_VAL : error / tolerance;
    worst = std::max(worst, ratio);
    if (ratio > 1.0 && fault.empty()) {
      fault = where;
    }
  }
};

class Trial {
 public:
  /// `inputs` must outlive this. Work is queued on the stream.
  Trial(const Case& one, const Inputs& inputs, void* stream)
      : case_(one),
        tensors_(strides_of(one)),
        inputs_(inputs),
        stream_(stream),
        q_(bytes_of(0)),
        k_(bytes_of(1)),
        v_(bytes_of(2)),
        o_(bytes_of(3)),
        lse_(sizeof(float) * static_cast<std::size_t>(output_rows())),
        sequences_(sequences_of(one.problem)),
        lengths_(bytes_of(sequences_.keys)),
        first_query_(bytes_of(sequences_.first_query)),
        first_key_(bytes_of(sequences_.first_key)),
        pages_(bytes_of(sequences_.pages)),
        sinks_(sizeof(float) * static_cast<std::size_t>(one.problem.heads)),
        k_scales_(sizeof(float) * scales_of(one.problem, Scaled::k).size()),
        v_scales_(sizeof(float) * scales_of(one.problem, Scaled::v).size()) {
    tensors_.q.data = q_.data();
    tensors_.k.data = k_.data();
    tensors_.v.data = v_.data();
    tensors_.o.data = o_.data();
    tensors_.lse = static_cast<float*>(lse_.data());
    const auto array = [](bool is_wanted, const DeviceMemory& memory) {
      return is_wanted ? static_cast<const std::int32_t*>(memory.data()) : nullptr;
    };
    tensors_.seq_lens_kv = array(one.problem.has_seq_lens_kv, lengths_);
    tensors_.page_table = array(one.problem.page_size > 0, pages_);
    tensors_.cu_seqlens_q = array(one.problem.is_packed, first_query_);
    tensors_.cu_seqlens_kv = array(one.problem.is_packed, first_key_);
    set_lengths(0);
    if (one.problem.has_sinks) {
      tensors_.sinks = static_cast<const float*>(sinks_.data());
      sinks_.fill(sinks_of(one.problem), stream);
    }
    if (detail::has_scales(one.problem)) {
      tensors_.k_scales = static_cast<const float*>(k_scales_.data());
      tensors_.v_scales = static_cast<const float*>(v_scales_.data());
      k_scales_.fill(scales_of(one.problem, Scaled::k), stream);
      v_scales_.fill(scales_of(one.problem, Scaled::v), stream);
    }
    q_.fill(inputs.q.bytes(), stream);
    k_.fill(inputs.k.bytes(), stream);
    v_.fill(inputs.v.bytes(), stream);
    poison();
    workspace_.emplace(workspace_bytes(case_.problem, tensors_));
    workspace_->fill(kPoison, stream);
  }

  const Tensors& tensors() const { return tensors_; }

  /// Gives the sequences other lengths, if they differ, without another launch or another tensor.
  void set_lengths(std::size_t first) {
    sequences_ = sequences_of(case_.problem, first);
    lengths_.fill(sequences_.keys, stream_);
    first_query_.fill(sequences_.first_query, stream_);
    first_key_.fill(sequences_.first_key, stream_);
    if (!sequences_.pages.empty()) {
      pages_.fill(sequences_.pages, stream_);
    }
  }

  /// Overwrites the output, so that its later contents must come from a later launch.
  void poison() {
    o_.fill(kPoison, stream_);
    lse_.fill(kPoison, stream_);
  }

  /// `is_clean`: the workspace is as an earlier launch left it.
  Result launch(bool is_clean) const {
    return attention_forward(case_.problem, tensors_,
                             {workspace_->data(), workspace_->bytes(), is_clean}, stream_);
  }

  Verdict check() const {
    wait_for(stream_);
    const auto o = o_.read<std::uint16_t>(stream_);
    const auto lse = lse_.read<float>(stream_);
    Verdict verdict;
    for (const RowPlace& at : rows_to_compare()) {
      compare(at, o, lse, verdict);
    }
    if (verdict.fault.empty() && !leaves_gaps_alone(o)) {
      verdict.fault = "wrote between the rows of O, or did not write all rows";
    }
    return verdict;
  }

 private:
  std::size_t bytes_of(std::size_t tensor) const {
    const detail::ShapedTensor shaped = detail::shaped_tensors(case_.problem, tensors_)[tensor];
    return static_cast<std::size_t>(shaped.element_bytes) * elements_of(shaped);
  }

  static std::size_t bytes_of(const std::vector<std::int32_t>& array) {
    return sizeof(std::int32_t) * array.size();
  }

  detail::Extents extents_of_o() const { return detail::extents_of(case_.problem)[3]; }

  std::int64_t output_rows() const {
    const detail::Extents o = extents_of_o();
    return o.batch * o.heads * o.rows;
  }

  RowPlace place_of(std::int64_t index) const {
    const detail::Extents o = extents_of_o();
    return {index / o.rows / o.heads, index / o.rows % o.heads, index % o.rows};
  }

  /// All rows of a small problem; the first, the last and random rows of a large one.
  std::vector<RowPlace> rows_to_compare() const {
    constexpr std::int64_t kMostProducts = 100'000'000;
    constexpr int kSampled = 24;
    const std::int64_t products_of_row =
        case_.problem.seq_len_kv * (case_.problem.d_head + case_.problem.d_head_v);
    std::vector<RowPlace> rows;
    if (output_rows() <= kMostProducts / products_of_row) {
      for (std::int64_t i = 0; i < output_rows(); ++i) {
        rows.push_back(place_of(i));
      }
      return rows;
    }
    std::uint64_t seed = 4;
    rows = {place_of(0), place_of(output_rows() - 1)};
    while (rows.size() < kSampled) {
      rows.push_back(place_of(random_between(seed, 0, output_rows() - 1)));
    }
    return rows;
  }

  void compare(const RowPlace& at, const std::vector<std::uint16_t>& o,
               const std::vector<float>& lse, Verdict& verdict) const {
    const Problem& problem = case_.problem;
    const ReferenceRow expected = Reference(problem, tensors_, inputs_, sequences_).row(at);
    const std::string where = "batch " + std::to_string(at.batch) + ", head " +
                              std::to_string(at.head) + ", row " + std::to_string(at.row);
    const auto first = static_cast<std::size_t>(index_of(tensors_.o, at));
    for (std::size_t i = 0; i < expected.o.size(); ++i) {
      const double error = std::fabs(decode(problem.dtype, o[first + i]) - expected.o[i]);
      verdict.note(error, std::max(expected.tolerance[i], 1e-6), "O is wrong at " + where);
    }
    if (problem.lse) {
      compare_lse(expected,
                  lse[static_cast<std::size_t>(
                      (at.batch * problem.heads + at.head) * extents_of_o().rows + at.row)],
                  where, verdict);
    }
    ++verdict.rows;
  }

  static void compare_lse(const ReferenceRow& expected, float found, const std::string& where,
                          Verdict& verdict) {
    const auto value = static_cast<double>(found);
    const double error = value == expected.lse ? 0.0 : std::fabs(value - expected.lse);
    verdict.note(error, expected.lse_tolerance, "the log-sum-exp is wrong at " + where);
  }

  /// Whether the poison is intact between the rows, and overwritten in all rows.
  bool leaves_gaps_alone(const std::vector<std::uint16_t>& o) const {
    constexpr std::uint16_t kPoisoned = 0xffff;
    const auto untouched = std::count(o.begin(), o.end(), kPoisoned);
    return untouched ==
           static_cast<std::int64_t>(o.size()) - output_rows() * case_.problem.d_head_v;
  }

  const Case& case_;
  Tensors tensors_;
  const Inputs& inputs_;
  void* stream_;
  DeviceMemory q_;
  DeviceMemory k_;
  DeviceMemory v_;
  DeviceMemory o_;
  DeviceMemory lse_;
  Sequences sequences_;
  DeviceMemory lengths_;
  DeviceMemory first_query_;
  DeviceMemory first_key_;
  DeviceMemory pages_;
  DeviceMemory sinks_;
  DeviceMemory k_scales_;
  DeviceMemory v_scales_;
  std::optional<DeviceMemory> workspace_;
};

/// Launches the case twice, the second time with the workspace that the first launch left.
/// `result`: of the last launch.
inline Verdict verify(const Case& one, const Inputs& inputs, void* stream, Result& result) {
  Trial trial(one, inputs, stream);
  Verdict verdict;
  for (const bool is_clean : {false, true}) {
    trial.poison();
    result = trial.launch(is_clean);
    if (!result || !verdict.fault.empty()) {
      break;
    }
    verdict = trial.check();
  }
  return verdict;
}

}  // namespace example
