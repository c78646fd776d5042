// A tile of Q as converted_products.cuh multiplies it: in the order of columns that fragments of K
// have, and in fp16.
#ifndef FATUNE_KERNELS_FLASH_DECODE_ORDERED_QUERIES_CUH
#define FATUNE_KERNELS_FLASH_DECODE_ORDERED_QUERIES_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_convert.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "flash_decode/config.cuh"

// A power of two of which a tile's bf16 elements become multiples in fp16: the greatest of them is
// then from 2^14 to 2^15. What is less than 2^-31 of it loses bits, 2^-39 of it at most.
struct QueryUnit {
  float value;
  float inverse;

  // greatest: the bits of the greatest finite magnitude as fp32
  __device__ __forceinline__ static QueryUnit of(unsigned greatest) {
    const unsigned exponent = max(greatest >> 23, 40u);  // so that the unit is a normal number
    return {__uint_as_float((exponent - 14) << 23), __uint_as_float((268 - exponent) << 23)};
  }
  // Two elements of a word.
  __device__ __forceinline__ unsigned multiples(unsigned pair) const {
    return cvt_rn_x2<false>(__uint_as_float(pair << 16) * inverse,
                            __uint_as_float(pair & 0xffff0000u) * inverse);
  }
  __device__ __forceinline__ uint4 multiples(const uint4& pairs) const {
    return make_uint4(multiples(pairs.x), multiples(pairs.y), multiples(pairs.z),
                      multiples(pairs.w));
  }
};

// threads: the warpgroup, converged, in all functions
template <typename S>
class OrderedQueries {
 public:
  using Plan = SmemPlan<S>;

  // tile: of Q; scratch: 16 bytes that no product reads
  __device__ __forceinline__ OrderedQueries(unsigned tile, unsigned scratch)
      : tile_(tile), scratch_(scratch) {}

  // Puts the words of two columns of each 16 into the order 0, 2, 4, 6, 1, 3, 5, 7. Returns what
  // elements are multiples of now.
  // sync: in: the tile is there; out: products may read it
  __device__ __forceinline__ float make() const {
    QueryUnit unit{1.0f, 1.0f};
    if constexpr (S::kIsBf16) {
      unit = QueryUnit::of(greatest());
    }
    for_each_16_columns([&](unsigned first) {
      uint4 low = ld_shared_16(first);
      uint4 high = ld_shared_16(first ^ 16);
      if constexpr (S::kIsBf16) {
        low = unit.multiples(low);
        high = unit.multiples(high);
      }
      st_shared_16(first, make_uint4(low.x, low.z, high.x, high.z));
      st_shared_16(first ^ 16, make_uint4(low.y, low.w, high.y, high.w));
    });
    fence_async_proxy();
    named_barrier_wait(kOrderedBarrier, S::kConsumers);
    return unit.value;
  }

 private:
  enum : unsigned { kOrderedBarrier = 7 };

  // Calls visit(address) for the thread's pieces of 16 columns of a row, which have 32 bytes.
  template <typename Visit>
  __device__ __forceinline__ void for_each_16_columns(const Visit& visit) const {
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x); at < S::kRows * (S::kHeadDim / 16);
         at += S::kConsumers) {
      const int row = at % S::kRows;
      const int sixteen = at / S::kRows;
      visit(tile_ + sixteen / 4 * Plan::kPanelBytesQ + row * 128 +
            16 * (sixteen % 4 * 2 ^ row % 8));
    }
  }

  // The greatest finite magnitude of the tile's bf16 elements, as the bits of an fp32.
  __device__ __forceinline__ unsigned greatest() const {
    unsigned of_thread = 0;
    const auto add = [&](unsigned element) {
      constexpr unsigned kInfinity = 0x7f800000;
      const unsigned magnitude = element & 0x7fff0000u;
      of_thread = max(of_thread, magnitude < kInfinity ? magnitude : 0u);
    };
    const auto add_pairs = [&](const uint4& pairs) {
      for (const unsigned pair : {pairs.x, pairs.y, pairs.z, pairs.w}) {
        add(pair << 16);
        add(pair);
      }
    };
    for_each_16_columns([&](unsigned first) {
      add_pairs(ld_shared_16(first));
      add_pairs(ld_shared_16(first ^ 16));
    });
    const unsigned of_warp = __reduce_max_sync(0xffffffffu, of_thread);
    if (threadIdx.x % 32 == 0) {
      st_shared_4(scratch_ + threadIdx.x / 32 * 4, of_warp);
    }
    named_barrier_wait(kOrderedBarrier, S::kConsumers);
    const uint4 of_warps = ld_shared_16(scratch_);
    return max(max(of_warps.x, of_warps.y), max(of_warps.z, of_warps.w));
  }

  const unsigned tile_;
  const unsigned scratch_;
};

#endif
