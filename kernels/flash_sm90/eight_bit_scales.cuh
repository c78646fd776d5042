// What stored elements of 8 bits are multiplied by. FATUNE_SCALE_BLOCK says how many positions of a
// head share a scale; without it, all of a head or of a tensor do.
#ifndef FATUNE_KERNELS_FLASH_SM90_EIGHT_BIT_SCALES_CUH
#define FATUNE_KERNELS_FLASH_SM90_EIGHT_BIT_SCALES_CUH

#include "flash_sm90/kernel_args.cuh"
#include "flash_sm90/smem_plan.cuh"
#include "flash_sm90/tile_schedule.cuh"

#if FATUNE_SCALE_BLOCK > 0

// What the products of a step are multiplied by. A consumer's rows have one scale of Q, and a step
// has one of K and one of V. O is kept in units of the scale of V, and follows it from step to
// step.
class TileScales {
 public:
  float softmax_scale;  // of products of stored elements of Q and K
  float softcap;        // the problem's
  float value;          // of stored elements of V in the products that O has

  // shape: first_row: the consumer's first query. Its rows are in one block.
  __device__ __forceinline__ void load(const Work& work, const Tile& tile, int first_row) {
    static_assert(kScaleBlock % 64 == 0, "a consumer has 64 rows");
#if FATUNE_PACKED
    const int sequence = tile.sequence.number;
#else
    const int sequence = tile.batch;
#endif
    // A consumer without queries has the last block's.
    const int block =
        sequence * work.query_blocks + min(first_row / kScaleBlock, work.query_blocks - 1);
    of_queries_ = work.softmax_scale * __ldg(work.q_scales + block * work.heads + tile.head);
    of_keys_ = sequence * work.key_blocks * work.kv_heads + tile.head / work.group;
#if FATUNE_SOFTCAP
    softcap = work.softcap;
#endif
  }

  // Loads the scales of a step, early enough to be there when the scores are.
  template <typename S>
  __device__ __forceinline__ void ask(const Work& work, int step) {
    static_assert(kScaleBlock % S::kBlockN == 0, "a step's keys are in one block");
    constexpr unsigned kSteps = kScaleBlock / S::kBlockN;
    const int at = of_keys_ + static_cast<unsigned>(step) / kSteps * work.kv_heads;
    asked_key_ = __ldg(work.k_scales + at);
    asked_value_ = __ldg(work.v_scales + at);
  }

  // Goes on to the scale of K that was asked for.
  __device__ __forceinline__ void take_key() { softmax_scale = of_queries_ * asked_key_; }

  // Begins with the scale of V that was asked for, in a tile's first step.
  __device__ __forceinline__ void begin_value() { value = asked_value_; }

  // Goes on to the scale of V that was asked for, and brings O to it. The next product cuts O off
  // 13 places behind the point, towards 0. So O is multiplied by a little more, as much as a number
  // of any significand loses on average. One that loses nothing does not change by it.
  // sync: no product to O is pending
  template <typename S>
  __device__ __forceinline__ void take_value(float (&o)[S::kOutputs]) {
    if (asked_value_ != value) {              // the same in all threads
      constexpr float kCutOff = 0x1.63p-15f;  // ln 2 times half of 2^-13
      const float factor = value / asked_value_ * (1.0f + kCutOff);
#pragma unroll
      for (float& output : o) {
        output *= factor;
      }
      value = asked_value_;
    }
  }

 private:
  float of_queries_;  // the problem's softmax_scale, times the scale of Q
  int of_keys_;       // where the scales of the sequence's first block of keys are
  float asked_key_;
  float asked_value_;
};

#else

// What the products of a tile are multiplied by.
struct TileScales {
  float softmax_scale;  // of products of stored elements of Q and K
  float softcap;        // the problem's
  float value;          // of stored elements of V

  __device__ __forceinline__ void load(const Work& work, const Tile& tile, int) {
#if FATUNE_EIGHT_BITS
    const int kv_head = tile.head / work.group * work.scale_stride;
    softmax_scale = work.softmax_scale * __ldg(work.q_scales + tile.head * work.scale_stride) *
                    __ldg(work.k_scales + kv_head);
    value = __ldg(work.v_scales + kv_head);
#if FATUNE_SOFTCAP
    softcap = work.softcap;
#endif
#endif
  }

  // All steps of a tile have the same scales.
  template <typename S>
  __device__ __forceinline__ void ask(const Work&, int) {}
  __device__ __forceinline__ void take_key() {}
  __device__ __forceinline__ void begin_value() {}
  template <typename S>
  __device__ __forceinline__ void take_value(float (&)[S::kOutputs]) {}
};

#endif

// Multiplies O by the scale of V.
template <typename S>
__device__ __forceinline__ void scale_values(float (&o)[S::kOutputs], const TileScales& scales) {
#pragma unroll
  for (float& output : o) {
    output *= scales.value;
  }
}

#endif
