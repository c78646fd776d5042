// The two products of a short consumer, with K and V of 8 bits: lanes read them from shared memory,
// convert them exactly to fp16, and have them as left operands in registers.
#ifndef FATUNE_KERNELS_FLASH_DECODE_CONVERTED_PRODUCTS_CUH
#define FATUNE_KERNELS_FLASH_DECODE_CONVERTED_PRODUCTS_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_fp8.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_mma.cuh"
#include "common/ptx_tma.cuh"
#include "common/ptx_wgmma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kv_type.cuh"
#include "flash_decode/ordered_queries.cuh"
#include "flash_decode/products.cuh"
#include "flash_decode/short_products.cuh"
#include "flash_decode/sums.cuh"
#include "flash_decode/tile_layout.cuh"

// A fragment is the left operand of a product of 16 columns: 64 keys and 16 columns of K, or 64
// columns of V and 16 keys. A warp has 16 of its 64 rows.
//
// ldmatrix gives a lane four neighbouring elements of a key of K. In the fragment they are columns
// 2t, 2t + 1, 2t + 8, 2t + 9 (t: lane % 4), the order that ordered_queries.cuh gives those of Q.
// Transposed, it gives a lane two neighbouring columns of two keys of V, which are made rows
// lane / 4 and lane / 4 + 8 of the fragment: those of O^T are in this order (ShortSums::square_at).
// threads: the warpgroup, converged, in all functions
template <typename S>
class ConvertedProducts {
 public:
  using Plan = SmemPlan<S>;
  using Layout = TileLayout<S>;
  using Scores = ShortScores<S>;

  __device__ __forceinline__ ConvertedProducts(unsigned smem, int lane)
      : smem_(smem), lane_(lane) {}

  // Brings a part's tile of Q to what products read, and returns the unit of its elements.
  // sync: in: the tile is there, and no product reads P
  __device__ __forceinline__ float begin(unsigned sQ) const {
    return OrderedQueries<S>(sQ, smem_ + Plan::kP).make();
  }

  // Waits for a step's K and converts its first fragments, if registers can keep them.
  __device__ __forceinline__ void prepare_keys(Ring<S::kStages> stage) {
    if constexpr (kPrepares) {
      begin_fragments<true>(stage);
    }
  }
  // The same of V.
  __device__ __forceinline__ void prepare_values(Ring<S::kStages> stage) {
    if constexpr (kPrepares) {
      begin_fragments<false>(stage);
    }
  }

  // S^T = K Q^T of a step. sQ: the tile of Q. sync: in: its K is prepared
  __device__ __forceinline__ void scores(Scores& s, unsigned sQ, Ring<S::kStages> stage) {
    const unsigned long long q = swizzled_descriptor(sQ, 0);
    multiply<true, S::kKeyTiles * kColumnSteps / kAtOnce>(stage, [&](const Fragment& keys, int i) {
      const int at = i % kColumnSteps;
      product<false, S::kRows>(s[i / kColumnSteps], keys,
                               q + at / 4 * (Plan::kPanelBytesQ / 16) + at % 4 * (32 / 16),
                               at > 0 ? 1 : 0);
    });
    await_products<S>(s, smem_, Plan::full_k(stage.index), lane_);
  }

  // O^T += V^T P^T of a step. Prepares the K of the step after it, unless it is the last.
  // sync: in: P is there, and V is prepared
  __device__ __forceinline__ void accumulate(ShortSums<S>& sums, Ring<S::kStages> stage,
                                             bool is_last) {
    const unsigned long long p = swizzled_descriptor(smem_ + Plan::kP, 0);
    multiply<false, S::kKeyTiles * S::kPanels>(stage, [&](const Fragment& values, int i) {
      const int four = i / kAtOnce;
      product<false, S::kRows>(
          sums.o[four % S::kPanels], values,
          p + four / S::kPanels * (Plan::kPanelBytesQ / 16) + i % kAtOnce * (32 / 16), 1);
    });
    if (!is_last) {
      Ring<S::kStages> next = stage;
      next.advance();
      prepare_keys(next);
    }
    await_products<S>(sums.o, smem_, Plan::full_v(stage.index), lane_);
  }

 private:
  // Whether registers can keep the first fragments from one product to the next.
  enum : bool {
    kPrepares = S::kBlocksPerSm < 3 &&
                S::kColumnRegisters <= (S::kBlocksPerSm == 1 || S::kGivesRegisters ? 128 : 64)
  };
  enum : int {
    kColumnSteps = S::kHeadDim / 16,
    kAtOnce = 4,  // fragments that are converted while the products of four others run
    kPairsOfLine = S::kLineBytes / 32,    // of chunks
    kPanelsOfLine = S::kLineBytes / 64,   // of 64 columns
    kKeysOfPattern = 128 / S::kLineBytes  // that are swizzled alike
  };

  using Fragment = unsigned[4];
  using Fragments = Fragment[kAtOnce];
  using Loaded = unsigned[kAtOnce / 2][4];  // what becomes of them, 8 bits an element

  // Multiplies kFours times four fragments of a step's K or V. While the products of some run, the
  // next ones are loaded and converted.
  // multiply_one(fragment, i): starts the product of fragment i
  template <bool kKeys, int kFours, typename MultiplyOne>
  __device__ __forceinline__ void multiply(Ring<S::kStages> stage,
                                           const MultiplyOne& multiply_one) {
    if constexpr (!kPrepares) {
      begin_fragments<kKeys>(stage);
    }
    const auto multiply_four = [&](const Fragments& fragments, int four) {
      wgmma_fence();  // conversions stay before it
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        multiply_one(fragments[i], kAtOnce * four + i);
      }
      wgmma_commit();
      // Then registers are free: those of the four before these, and first_.
      wgmma_wait<kFours == 1 ? 0 : 1>();
    };
    if constexpr (kPrepares && kFours > 1) {
      load<kKeys>(stage, 1);
    }
    multiply_four(first_, 0);
#pragma unroll
    for (int four = 1; four < kFours; ++four) {
      if constexpr (!kPrepares) {
        load<kKeys>(stage, four);
      }
      Fragments fragments;
      convert<kKeys>(fragments);
      if (kPrepares && four + 1 < kFours) {
        load<kKeys>(stage, four + 1);
      }
      multiply_four(fragments, four);
    }
  }

  // Where lane l reads key 8 * eight_keys + l % 8 of a tile: 16-byte chunk `chunk` of its line.
  __device__ __forceinline__ unsigned lane_at(int eight_keys, int chunk) const {
    const int swizzle = lane_ % 8 / kKeysOfPattern;
    return eight_keys * Layout::kEightKeysBytes + lane_ % 8 * S::kLineBytes +
           16 * (chunk ^ swizzle);
  }
  // Keys 16 * warp to 16 * warp + 15 of 64, of two chunks.
  __device__ __forceinline__ unsigned key_lane() const {
    return lane_at(2 * warp() + lane_ / 8 % 2, lane_ / 16);
  }
  // 32 keys, of the warp's chunk of four.
  __device__ __forceinline__ unsigned value_lane() const { return lane_at(lane_ / 8, warp()); }

  __device__ __forceinline__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }

  template <bool kKeys>
  __device__ __forceinline__ void begin_fragments(Ring<S::kStages> stage) {
    mbarrier_wait(smem_ + (kKeys ? Plan::full_k(stage.index) : Plan::full_v(stage.index)),
                  stage.parity);
    load<kKeys>(stage, 0);
    convert<kKeys>(first_);
  }

  template <bool kKeys>
  __device__ __forceinline__ void load(Ring<S::kStages> stage, int four) {
    if constexpr (kKeys) {
      load_keys(stage, four);
    } else {
      load_values(stage, four);
    }
  }

  // Of four fragments of 64 keys and 16 columns, columns first.
  __device__ __forceinline__ void load_keys(Ring<S::kStages> stage, int four) {
    const unsigned tile = smem_ + Plan::key(stage.index) + key_lane();
#pragma unroll
    for (int j = 0; j < kAtOnce / 2; ++j) {
      const int pair = kAtOnce * four % kColumnSteps / 2 + j;
      ldmatrix_x4(loaded_[j], (tile ^ 32 * (pair % kPairsOfLine)) +
                                  pair / kPairsOfLine * Layout::kPanelBytes +
                                  kAtOnce * four / kColumnSteps * (8 * Layout::kEightKeysBytes));
    }
  }

  // A word becomes two pairs of neighbouring columns of a key, or of alternate keys of two columns.
  template <bool kKeys>
  __device__ __forceinline__ void convert(Fragments& fragments) const {
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const unsigned four = loaded_[j / 2][j % 2 * 2 + h];
        const TwoPairs pairs =
            kKeys ? cvt_halves_of_four<kKvIsE4m3>(four) : alternates<kKvIsE4m3>(four);
        fragments[j][kKeys ? h : 2 * h] = pairs.first;
        fragments[j][kKeys ? 2 + h : 2 * h + 1] = pairs.second;
      }
    }
  }

  // Of four fragments of 64 columns and 16 keys, of which the four are 64 keys. Panels come first.
  __device__ __forceinline__ void load_values(Ring<S::kStages> stage, int four) {
    const unsigned tile = smem_ + Plan::value(stage.index) + value_lane();
    const int panel = four % S::kPanels;
#pragma unroll
    for (int j = 0; j < kAtOnce / 2; ++j) {
      ldmatrix_x4_trans(loaded_[j],
                        (tile ^ 64 * (panel % kPanelsOfLine)) +
                            panel / kPanelsOfLine * Layout::kPanelBytes +
                            (four / S::kPanels * 2 + j) * (4 * Layout::kEightKeysBytes));
    }
  }

  const unsigned smem_;
  const int lane_;
  Fragments first_;  // of a step's K or V
  Loaded loaded_;    // of the fragments that are converted next
};

#endif
