// The scales of K and V of 8 bits. Without them, nothing here is code.
//
// K's scales are factors of scores. V's are factors of sums of O if heads have them, and if keys do
// of probabilities that have been added to the sums of their rows. Probabilities are at most 2^8
// (online_softmax.cuh). Before they are rounded to fp16, which holds less than 2^16, they become
// multiples of a unit of the part's sums of O, so that small ones are exact too.
#ifndef FATUNE_KERNELS_FLASH_DECODE_SCALES_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SCALES_CUH

#include "common/softcap.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/kv_type.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/short_products.cuh"
#include "flash_decode/sums.cuh"

// Multiplies scores, probabilities, or sums of O.
template <int kTiles, int kCount>
__device__ __forceinline__ void multiply(float (&numbers)[kTiles][kCount], float factor) {
#pragma unroll
  for (auto& of_tile : numbers) {
#pragma unroll
    for (float& number : of_tile) {
      number *= factor;
    }
  }
}

#if FATUNE_KV_DTYPE == 0

// Elements of K and V have no scales.
template <typename S>
class Scales {
 public:
  using Scores = ShortScores<S>;
  enum Unit : int { kUnitsLog2 = 0 };
  enum : bool { kFactorOfUnit = false };

  __device__ __forceinline__ Scales(const Work&, const Part&) {}
  __device__ __forceinline__ void take_query_unit(float) {}
  __device__ __forceinline__ void begin_step(int) {}
  __device__ __forceinline__ void end_step() {}
  __device__ __forceinline__ bool has_outgrown() const { return false; }
  __device__ __forceinline__ void scale_scores(Scores&) const {}
  __device__ __forceinline__ void scale_probabilities(Scores&) const {}
  __device__ __forceinline__ void scale_sums(ShortSums<S>&) const {}
};

#elif FATUNE_KEY_SCALES == 0

// The scales of the part's head. That of K is part of the unit of scores, unless they are capped.
template <typename S>
class Scales {
 public:
  using Scores = ShortScores<S>;
  enum Unit : int { kUnitsLog2 = 7 };
  enum : bool { kFactorOfUnit = !kSoftcap };

  __device__ __forceinline__ Scales(const Work& work, const Part& part)
      : key_(__ldg(work.k_scales + part.head * work.scale_head_stride)),
        value_(__ldg(work.v_scales + part.head * work.scale_head_stride)) {}

  // Elements of Q are multiples of this.
  __device__ __forceinline__ void take_query_unit(float unit) { key_ *= unit; }
  // By which the unit of scores differs from that of 16-bit problems. It is positive, so that
  // masked scores stay minus infinity.
  __device__ __forceinline__ float factor() const { return fmaxf(key_, 0x1p-100f); }

  __device__ __forceinline__ void begin_step(int) {}
  __device__ __forceinline__ void end_step() {}
  __device__ __forceinline__ bool has_outgrown() const { return false; }

  // Scores of a step, before they are capped.
  __device__ __forceinline__ void scale_scores(Scores& s) const {
    if constexpr (!kFactorOfUnit) {
      multiply(s, key_);
    }
  }
  __device__ __forceinline__ void scale_probabilities(Scores&) const {}

  // The part's sums.
  __device__ __forceinline__ void scale_sums(ShortSums<S>& sums) const {
    constexpr float kUnit = 0x1p-7f;
    multiply(sums.o, value_ * kUnit);
#pragma unroll
    for (float& sum : sums.sum) {
      sum *= kUnit;
    }
  }

 private:
  float key_;
  const float value_;
};

#else

// The scales of the thread's keys of a step. They are loaded while the step before is computed, and
// which pages they are of one step earlier.
template <typename S>
class Scales {
 public:
  using Scores = ShortScores<S>;
  enum Unit : int { kUnitsLog2 = 0 };
  enum : bool { kFactorOfUnit = false };

  __device__ __forceinline__ Scales(const Work& work, const Part& part)
      : work_(work),
        batch_(part.batch),
        keys_(part.keys),
        head_(part.head * work.scale_head_stride) {
    find_pages(part.step);
    load(part.step);
    end_step();
    find_pages(part.step + 1);
  }

  // Elements of Q are multiples of this.
  __device__ __forceinline__ void take_query_unit(float unit) { query_unit_ = unit; }

  // Asks for the scales of the step after this one.
  __device__ __forceinline__ void begin_step(int step) {
    load(step + 1);
    find_pages(step + 2);
  }
  __device__ __forceinline__ void end_step() { now_ = next_; }

  // Scores of the step, before they are capped.
  __device__ __forceinline__ void scale_scores(Scores& s) const { scale(s, now_.key, query_unit_); }
  // Probabilities of the step, once the sums of their rows have them.
  __device__ __forceinline__ void scale_probabilities(Scores& s) const {
    scale(s, now_.value, 1.0f / unit_);
  }

  // Greatest magnitude of V's scales among the thread's keys of the step.
  __device__ __forceinline__ float greatest() const {
    float value = 0.0f;
#pragma unroll
    for (int m = 0; m < S::kKeyTiles; ++m) {
      value = fmaxf(value, fmaxf(fabsf(now_.value[m][0]), fabsf(now_.value[m][1])));
    }
    return value;
  }
  // Whether the unit must be raised. As a row's reference, it follows the greatest scale only when
  // a scale has outgrown it.
  __device__ __forceinline__ bool has_outgrown() const { return greatest() > 0x1p7f * unit_; }
  // A unit is a power of two, so that a scale over it keeps its significand: products with
  // probabilities are rounded as those with the scale itself, as far as numbers are normal.
  // greatest: among all keys of the step
  __device__ __forceinline__ void raise_unit(float greatest, ShortSums<S>& sums) {
    constexpr int kExponent = 0x7f800000;
    const float raised =
        fmaxf(unit_, __int_as_float(__float_as_int(greatest * 0x1p-5f) & kExponent));
    multiply(sums.o, unit_ / raised);
    unit_ = raised;
  }

  // The part's sums of O.
  __device__ __forceinline__ void scale_sums(ShortSums<S>& sums) const { multiply(sums.o, unit_); }

 private:
  static constexpr float kLeastUnit = 0x1p-100f;

  // Of keys m and h: key 64 * m + 16 * warp + lane / 4 + 8 * h of a step.
  using OfKeys = float[S::kKeyTiles][2];
  struct Step {
    OfKeys key;
    OfKeys value;
  };

  __device__ __forceinline__ static void scale(Scores& s, const OfKeys& scales, float factor) {
#pragma unroll
    for (int m = 0; m < S::kKeyTiles; ++m) {
#pragma unroll
      for (int i = 0; i < S::kScores; ++i) {
        s[m][i] *= scales[m][i / 2 % 2] * factor;
      }
    }
  }

  __device__ __forceinline__ static int key_of(int step, int m, int h) {
    const int thread = static_cast<int>(threadIdx.x);
    return step * S::kStepKeys + 64 * m + thread / 32 * 16 + thread % 32 / 4 + 8 * h;
  }

  // Calls visit(m, h, key) for the thread's keys of a step.
  template <typename Visit>
  __device__ __forceinline__ static void for_each_key(int step, const Visit& visit) {
#pragma unroll
    for (int m = 0; m < S::kKeyTiles; ++m) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        visit(m, h, key_of(step, m, h));
      }
    }
  }

  __device__ __forceinline__ void find_pages(int step) {
    if constexpr (kPageSize > 0) {
      for_each_key(step, [&](int m, int h, int key) {
        pages_[m][h] = key < keys_ ? __ldg(pages_of(work_, batch_) + key / kPageSize) : 0;
      });
    }
  }

  // Behind the sequence's end there are no scales: these are 0.
  __device__ __forceinline__ void load(int step) {
    for_each_key(step, [&](int m, int h, int key) {
      const int outer = kPageSize > 0 ? pages_[m][h] : batch_;
      const int row = kPageSize > 0 ? key % kPageSize : key;
      const long long at = outer * work_.scale_outer_stride +
                           static_cast<long long>(row) * work_.scale_key_stride + head_;
      next_.key[m][h] = key < keys_ ? __ldg(work_.k_scales + at) : 0.0f;
      next_.value[m][h] = key < keys_ ? __ldg(work_.v_scales + at) : 0.0f;
    });
  }

  const Work& work_;
  const int batch_;
  const int keys_;
  const int head_;
  float query_unit_;
  float unit_ = kLeastUnit;  // of scales of V, the same in all threads
  Step now_;
  Step next_;
  int pages_[S::kKeyTiles][2];  // of the step after the one that next_ is of
};

#endif

#endif
