// Stores the rows of a part: O if the part has all keys, or partial sums. The block that stores the
// last part of a tile of rows adds up all parts, in their order, so that results have the same bits
// in every run.
#ifndef FATUNE_KERNELS_FLASH_DECODE_OUTPUT_CUH
#define FATUNE_KERNELS_FLASH_DECODE_OUTPUT_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_convert.cuh"
#include "common/ptx_math.cuh"
#include "common/ptx_memory.cuh"
#include "flash_decode/consumer.cuh"

template <typename S>
class Output {
 public:
  using Plan = SmemPlan<S>;

  __device__ __forceinline__ explicit Output(const Work& work)
      : work_(work),
        tile_rows_(work.tile_queries * work.group),
        scale_log2_(work.softmax_scale * 1.44269504088896340736f) {}

  // threads: the consumer, converged, in this function and the next
  // Stores O, or this part of it.
  __device__ __forceinline__ void store(const Part& part, const Consumer<S>& consumer,
                                        const Sums<S>& sums) const {
    if (part.parts == 1) {
      store_rows(part, consumer, sums);
    } else {
      store_part(part, consumer, sums);
    }
  }

  // Adds up all parts of these rows, which must be stored.
  __device__ __forceinline__ void unite_parts(const Part& of_rows) const {
    const int rows = rows_of(of_rows);
    const int stride = tile_rows_ * (S::kHeadDim + kRowWords);
    const long long between = static_cast<long long>(work_.kv_heads) * work_.row_tiles * stride;
    const int items = work_.kv_heads * work_.row_tiles;
    const float* const first = part_at(of_rows.number - of_rows.index * items);
    constexpr int kFours = S::kHeadDim / 4;
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x); at < rows * kFours; at += S::kConsumers) {
      const int row = at / kFours;
      const int column = at % kFours * 4;
      const float* state = first + tile_rows_ * S::kHeadDim + 2 * row;
      const float* from = first + row * S::kHeadDim + column;
      float reference = negative_infinity();
      float sum = 0.0f;
      float4 o{0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
      for (int part = 0; part < of_rows.parts; part += kAtOnce) {
        float4 of[kAtOnce];
        float2 states[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          const bool is_there = part + i < of_rows.parts;
          states[i] = is_there ? __ldcg(reinterpret_cast<const float2*>(state + i * between))
                               : float2{negative_infinity(), 0.0f};
          of[i] = is_there ? __ldcg(reinterpret_cast<const float4*>(from + i * between))
                           : float4{0.0f, 0.0f, 0.0f, 0.0f};
        }
        float raised = reference;
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          raised = fmaxf(raised, states[i].x);
        }
        const float base = raised == negative_infinity() ? 0.0f : raised;
        const float old = ex2_approx_ftz((reference - base) * scale_log2_);
        sum *= old;
        o = {o.x * old, o.y * old, o.z * old, o.w * old};
        reference = raised;
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          const float factor = ex2_approx_ftz((states[i].x - base) * scale_log2_);
          sum = fmaf(factor, states[i].y, sum);
          o = {fmaf(factor, of[i].x, o.x), fmaf(factor, of[i].y, o.y), fmaf(factor, of[i].z, o.z),
               fmaf(factor, of[i].w, o.w)};
        }
        state += kAtOnce * between;
        from += kAtOnce * between;
      }
      const float factor = sum > 0.0f ? __frcp_rn(sum) : 0.0f;
      *reinterpret_cast<uint2*>(output_row(of_rows, row) + column) = {
          cvt_rn_x2<S::kIsBf16>(o.x * factor, o.y * factor),
          cvt_rn_x2<S::kIsBf16>(o.z * factor, o.w * factor)};
      if (work_.lse != nullptr && column == 0) {
        store_lse(of_rows, row, reference, sum);
      }
    }
  }

 private:
  // Column of V of accumulator pair h of a panel.
  __device__ __forceinline__ static int column_of(int panel, int h) {
    return 64 * panel + static_cast<int>(threadIdx.x) / 32 * 16 +
           static_cast<int>(threadIdx.x) % 32 / 4 + 8 * h;
  }
  __device__ __forceinline__ int rows_of(const Part& part) const {
    return min(tile_rows_, (work_.seq_len - part.row_tile * work_.tile_queries) * work_.group);
  }
  __device__ __forceinline__ unsigned short* output_row(const Part& part, int row) const {
    const int query = part.row_tile * work_.tile_queries + row / work_.group;
    const int head = part.head * work_.group + row % work_.group;
    return work_.o + part.batch * work_.o_batch_stride +
           static_cast<long long>(query) * work_.o_row_stride +
           static_cast<long long>(head) * work_.o_head_stride;
  }
  __device__ __forceinline__ void store_lse(const Part& part, int row, float reference,
                                            float sum) const {
    constexpr float kLn2 = 0.693147180559945309417f;
    const int query = part.row_tile * work_.tile_queries + row / work_.group;
    const int head = part.head * work_.group + row % work_.group;
    const int heads = work_.kv_heads * work_.group;
    work_.lse[(static_cast<long long>(part.batch) * heads + head) * work_.seq_len + query] =
        fmaf(reference, scale_log2_, lg2_approx_ftz(sum)) * kLn2;
  }

  __device__ __forceinline__ void store_rows(const Part& part, const Consumer<S>& consumer,
                                             const Sums<S>& sums) const {
    const int rows = rows_of(part);
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      const int row = consumer.row_of(r);
      if (row < rows) {
        const float factor = sums.sum[r] > 0.0f ? __frcp_rn(sums.sum[r]) : 0.0f;
        unsigned short* const to = output_row(part, row);
#pragma unroll
        for (int panel = 0; panel < S::kPanels; ++panel) {
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            to[column_of(panel, h)] =
                cvt_rn<S::kIsBf16>(sums.o[panel][r / 2 * 4 + 2 * h + r % 2] * factor);
          }
        }
        if (work_.lse != nullptr && threadIdx.x < 4) {
          store_lse(part, row, sums.reference[r], sums.sum[r]);
        }
      }
    }
  }

  // A part is [rows][kHeadDim] of O, then a reference and a sum of each row.
  __device__ __forceinline__ float* part_at(int part) const {
    return work_.parts + static_cast<long long>(part) * (tile_rows_ * (S::kHeadDim + kRowWords));
  }

  __device__ __forceinline__ void store_part(const Part& part, const Consumer<S>& consumer,
                                             const Sums<S>& sums) const {
    const int rows = rows_of(part);
    float* const to = part_at(part.number);
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      const int row = consumer.row_of(r);
      if (row < rows) {
#pragma unroll
        for (int panel = 0; panel < S::kPanels; ++panel) {
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            __stcg(to + row * S::kHeadDim + column_of(panel, h),
                   sums.o[panel][r / 2 * 4 + 2 * h + r % 2]);
          }
        }
        if (threadIdx.x < 4) {
          __stcg(reinterpret_cast<float2*>(to + tile_rows_ * S::kHeadDim) + row,
                 float2{sums.reference[r], sums.sum[r]});
        }
      }
    }
  }

  static constexpr int kAtOnce = 8;    // parts that a thread loads per batch
  static constexpr int kRowWords = 4;  // of a row in a part, besides O: two are used

  const Work& work_;
  const int tile_rows_;  // queries of a tile times the group
  const float scale_log2_;
};

#endif
