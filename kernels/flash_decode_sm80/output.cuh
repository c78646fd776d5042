// From the warps' sums to O: of the warps of a block in shared memory, and of the parts of a
// sequence in global memory. The orders of both depend on nothing but the configuration and the
// number of parts, so that results have the same bits in every run.
#ifndef FATUNE_KERNELS_FLASH_DECODE_SM80_OUTPUT_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SM80_OUTPUT_CUH

#include "common/online_softmax.cuh"
#include "common/ptx_math.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode_sm80/config.cuh"
#include "flash_decode_sm80/kernel_args.cuh"
#include "flash_decode_sm80/warp_attention.cuh"

// A row's reference, in units of scores, and its sum of probabilities, over some of the keys.
struct RowState {
  float reference;
  float sum;
};

// Four neighbouring columns of a row of O, over some of the keys.
struct FourSums {
  RowState row;
  float4 o;

  __device__ __forceinline__ static FourSums none() { return {{kNothingSeen, 0.0f}, {}}; }

  // Makes the reference this one, which is not less.
  __device__ __forceinline__ void raise(float reference, float scale_log2) {
    const float factor = ex2_approx_ftz((row.reference - reference) * scale_log2);
    row = {reference, row.sum * factor};
    o = {o.x * factor, o.y * factor, o.z * factor, o.w * factor};
  }

  // Adds sums that have the same reference.
  __device__ __forceinline__ void add(const FourSums& other) {
    row.sum += other.row.sum;
    o = {o.x + other.o.x, o.y + other.o.y, o.z + other.o.z, o.w + other.o.w};
  }
};

// threads: the block, converged, in all functions
template <typename S>
class Output {
 public:
  using Plan = SmemPlan<S>;

  __device__ __forceinline__ Output(const Work& work, unsigned char* memory)
      : work_(work), memory_(memory), scale_log2_(score_unit(work) * 1.44269504088896340736f) {}

  // Adds up the warps' sums of a part. Stores O if the part has all keys, else the sums.
  // stage: whose memory no copy is on its way to
  // sync: in: nothing; out: the stage may be used again after a barrier
  __device__ __forceinline__ void store(const Part& part, WarpAttention<S>& warp, int stage) const {
    float* const sums = reinterpret_cast<float*>(memory_ + Plan::key(stage));
    const int rows = rows_of(part);
    warp.total(part);
    store_states(warp);
    __syncthreads();
    store_sums_of_warp(warp, sums, rows);
    __syncthreads();
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x); at < rows * kRowFours; at += S::kThreads) {
      const int row = at / kRowFours;
      const int four = at % kRowFours;
      const FourSums all{state_of_warps(row), sum_of_warps(sums, row, four)};
      if (part.parts == 1) {
        store_four(part, row, four, all);
      } else {
        float4* const to = part_sums(part, part.index);
        __stcg(to + row * kRowFours + four, all.o);
        if (four == 0) {
          __stcg(states_of(to) + row, float2{all.row.reference, all.row.sum});
        }
      }
    }
  }

  // Adds up the sums of all parts of these rows, which must be stored: item `item` of `items` of
  // the tile. If there are many parts, several lanes have parts of the same columns.
  __device__ __forceinline__ void add_parts(const Part& of_rows, int item, int items) const {
    const int fours = rows_of(of_rows) * kRowFours;
    const int share = items == 1 ? fours : quotient(fours + items - 1, work_.tile_items_reciprocal);
    add_fours(of_rows, item * share, min((item + 1) * share, fours),
              of_rows.parts > kManyParts ? kLanes : 1);
  }

 private:
  static constexpr int kRowFours = S::kHeadDim / 4;
  static constexpr int kPartFours = S::kRows * kRowFours + S::kRows / 2;
  // Parts whose sums a thread loads at the same time.
  static constexpr int kAtOnce = S::kRegisters < 200 ? 4 : 8;
  static constexpr int kManyParts = 8;
  static constexpr int kLanes = 8;

  // --- The warps of a block ---

  __device__ __forceinline__ RowState* states() const {
    return reinterpret_cast<RowState*>(memory_ + Plan::kStatistics);
  }

  __device__ __forceinline__ void store_states(const WarpAttention<S>& warp) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (warp.lane() % 4 == 0) {
        states()[warp.key_warp() * S::kRows + warp.row_of(h)] = {warp.softmax().reference[h],
                                                                 warp.softmax().sum[h]};
      }
    }
  }

  // The greatest reference of a row among all warps.
  __device__ __forceinline__ float reference_of_warps(int row) const {
    float reference = states()[row].reference;
#pragma unroll
    for (int other = 1; other < S::kKeyWarps; ++other) {
      reference = fmaxf(reference, states()[other * S::kRows + row].reference);
    }
    return reference;
  }

  __device__ __forceinline__ RowState state_of_warps(int row) const {
    const float reference = reference_of_warps(row);
    float sum = 0.0f;
#pragma unroll
    for (int other = 0; other < S::kKeyWarps; ++other) {
      const RowState of = states()[other * S::kRows + row];
      sum += of.sum * ex2_approx_ftz((of.reference - reference) * scale_log2_);
    }
    return {reference, sum};
  }

  // Where the eight columns `eight` of a row are among a warp's sums. The order changes from row to
  // row, so that the rows that lanes have at the same time are in other banks.
  __device__ __forceinline__ static int place_of(int key_warp, int row, int eight) {
    return (key_warp * S::kRows + row) * S::kHeadDim + eight / 4 * 32 + 8 * (eight % 4 ^ row % 4);
  }

  __device__ __forceinline__ void store_sums_of_warp(const WarpAttention<S>& warp, float* sums,
                                                     int rows) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = warp.row_of(h);
      if (row < rows) {
        const float factor =
            ex2_approx_ftz((warp.softmax().reference[h] - reference_of_warps(row)) * scale_log2_);
#pragma unroll
        for (int tile = 0; tile < S::kHeadDim / 8; ++tile) {
          const float2 o = warp.columns(h, tile);
          float* const to = sums + place_of(warp.key_warp(), row, tile) + warp.lane() % 4 * 2;
          *reinterpret_cast<float2*>(to) = {o.x * factor, o.y * factor};
        }
      }
    }
  }

  __device__ __forceinline__ static float4 sum_of_warps(const float* sums, int row, int four) {
    float4 sum{};
#pragma unroll
    for (int warp = 0; warp < S::kKeyWarps; ++warp) {
      const float4 of =
          *reinterpret_cast<const float4*>(sums + place_of(warp, row, four / 2) + four % 2 * 4);
      sum = {sum.x + of.x, sum.y + of.y, sum.z + of.z, sum.w + of.w};
    }
    return sum;
  }

  // --- The parts of a sequence ---

  // The sums of a part: [rows][kRowFours], then the states of rows.
  __device__ __forceinline__ float4* part_sums(const Part& of_rows, int index) const {
    const long long tiles = static_cast<long long>(work_.kv_heads) * work_.row_tiles;
    const long long tile = static_cast<long long>(of_rows.row_tile) * work_.kv_heads + of_rows.head;
    return work_.parts + ((of_rows.first + index) * tiles + tile) * kPartFours;
  }
  __device__ __forceinline__ static float2* states_of(float4* sums) {
    return reinterpret_cast<float2*>(sums + S::kRows * kRowFours);
  }

  // Adds up fours `first` to `end`. lanes: that share the parts of a four, a power of two
  __device__ __forceinline__ void add_fours(const Part& of_rows, int first, int end,
                                            int lanes) const {
    const int across = 32 / lanes;
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 1
    for (int begin = first + static_cast<int>(threadIdx.x) / 32 * across; begin < end;
         begin += S::kWarps * across) {
      const int at = min(begin + lane % across, end - 1);
      const int row = at / kRowFours;
      const int four = at % kRowFours;
      FourSums sums = sum_of_parts(of_rows, row, four, lane / across, lanes);
#pragma unroll 1
      for (int distance = across; distance < 32; distance *= 2) {
        FourSums other = exchanged(sums, distance);
        const float raised = fmaxf(sums.row.reference, other.row.reference);
        other.raise(raised, scale_log2_);
        sums.raise(raised, scale_log2_);
        sums.add(other);
      }
      if (begin + lane % across < end && lane < across) {
        store_four(of_rows, row, four, sums);
      }
    }
  }

  // Adds up the sums of the parts first, first + every, and so on.
  __device__ __forceinline__ FourSums sum_of_parts(const Part& of_rows, int row, int four,
                                                   int first, int every) const {
    const long long between =
        static_cast<long long>(work_.kv_heads) * work_.row_tiles * kPartFours * every;
    float4* sums = part_sums(of_rows, first);
    FourSums all = FourSums::none();
#pragma unroll 1
    for (int part = first; part < of_rows.parts; part += kAtOnce * every) {
      FourSums loaded[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        loaded[i] = FourSums::none();
        if (part + i * every < of_rows.parts) {
          const float2 state = __ldcg(states_of(sums + i * between) + row);
          loaded[i] = {{state.x, state.y}, __ldcg(sums + i * between + row * kRowFours + four)};
        }
      }
      float raised = all.row.reference;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        raised = fmaxf(raised, loaded[i].row.reference);
      }
      all.raise(raised, scale_log2_);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        loaded[i].raise(raised, scale_log2_);
        all.add(loaded[i]);
      }
      sums += kAtOnce * between;
    }
    return all;
  }

  __device__ __forceinline__ static FourSums exchanged(const FourSums& own, int distance) {
    const auto from = [distance](float x) { return __shfl_xor_sync(0xffffffffu, x, distance); };
    return {{from(own.row.reference), from(own.row.sum)},
            {from(own.o.x), from(own.o.y), from(own.o.z), from(own.o.w)}};
  }

  // --- Rows of O ---

  // Rows of the part's tile that are rows of Q.
  __device__ __forceinline__ int rows_of(const Part& part) const {
    return min(work_.tile_rows, work_.seq_len * work_.group - part.row_tile * work_.tile_rows);
  }

  // Stores four columns, and with the first of a row its log-sum-exp, if it is wanted.
  __device__ __forceinline__ void store_four(const Part& part, int row, int four,
                                             const FourSums& sums) const {
    constexpr float kLn2 = 0.693147180559945309417f;
    const int packed = part.row_tile * work_.tile_rows + row;
    const int query = query_of(work_, packed);
    const int head = part.head * work_.group + packed - query * work_.group;
    unsigned short* const to = work_.o + part.batch * work_.o_batch_stride +
                               static_cast<long long>(query) * work_.o_row_stride +
                               static_cast<long long>(head) * work_.o_head_stride + 4 * four;
    const float factor = sums.row.sum > 0.0f ? __frcp_rn(sums.row.sum) : 0.0f;
    *reinterpret_cast<uint2*>(to) = {cvt_rn_x2<S::kIsBf16>(sums.o.x * factor, sums.o.y * factor),
                                     cvt_rn_x2<S::kIsBf16>(sums.o.z * factor, sums.o.w * factor)};
    if (work_.lse != nullptr && four == 0) {
      const long long heads = static_cast<long long>(work_.kv_heads) * work_.group;
      work_.lse[(part.batch * heads + head) * work_.seq_len + query] =
          fmaf(sums.row.reference, scale_log2_, lg2_approx_ftz(sums.row.sum)) * kLn2;
    }
  }

  const Work& work_;
  unsigned char* const memory_;
  const float scale_log2_;
};

#endif
