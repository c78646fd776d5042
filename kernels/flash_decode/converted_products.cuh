// The two products of a short consumer, with K and V of 8 bits: lanes read them from shared memory,
// convert them exactly to the type of Q, and have them as left operands in registers.
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
#include "flash_decode/products.cuh"
#include "flash_decode/short_products.cuh"
#include "flash_decode/sums.cuh"
#include "flash_decode/tile_layout.cuh"

// A fragment is the left operand of a product of 16 columns: 64 keys and 16 columns of K, or 64
// columns of V and 16 keys. A warp has 16 of its 64 rows.
//
// ldmatrix gives a lane four neighbouring elements of a key of K. In the fragment they are columns
// 2t, 2t + 1, 2t + 8, 2t + 9 (t: lane % 4), so that begin() puts the columns of Q into this order.
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

  // Puts the words of two columns of each 16 of a tile of Q into the order 0, 2, 4, 6, 1, 3, 5, 7.
  // sync: in: the tile is there; out: products may read it
  __device__ __forceinline__ void begin(unsigned sQ) const {
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x); at < S::kRows * (S::kHeadDim / 16);
         at += S::kConsumers) {
      const int row = at % S::kRows;
      const int sixteen = at / S::kRows;
      const unsigned first =
          sQ + sixteen / 4 * Plan::kPanelBytesQ + row * 128 + 16 * (sixteen % 4 * 2 ^ row % 8);
      const uint4 low = ld_shared_16(first);
      const uint4 high = ld_shared_16(first ^ 16);
      st_shared_16(first, make_uint4(low.x, low.z, high.x, high.z));
      st_shared_16(first ^ 16, make_uint4(low.y, low.w, high.y, high.w));
    }
    fence_async_proxy();
    named_barrier_wait(kOrderedBarrier, S::kConsumers);
  }

  // S^T = K Q^T of a step. sQ: the tile of Q
  __device__ __forceinline__ void scores(Scores& s, unsigned sQ, Ring<S::kStages> stage) const {
    mbarrier_wait(smem_ + Plan::full_k(stage.index), stage.parity);
    const unsigned tile = smem_ + Plan::key(stage.index) + key_lane();
    const unsigned long long q = swizzled_descriptor(sQ, 0);
#pragma unroll
    for (int m = 0; m < S::kKeyTiles; ++m) {
#pragma unroll
      for (int first = 0; first < kColumnSteps; first += kAtOnce) {
        Fragment keys[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; i += 2) {
          load_keys(keys[i], keys[i + 1], tile, m, (first + i) / 2);
        }
        begin_products();
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          const int at = first + i;
          product<S::kIsBf16, S::kRows>(s[m], keys[i],
                                        q + at / 4 * (Plan::kPanelBytesQ / 16) + at % 4 * (32 / 16),
                                        at > 0 ? 1 : 0);
        }
        end_products();
      }
    }
    await_products<S>(s, smem_, Plan::full_k(stage.index), lane_);
  }

  // O^T += V^T P^T of a step. sync: in: P is there
  __device__ __forceinline__ void accumulate(ShortSums<S>& sums, Ring<S::kStages> stage) const {
    mbarrier_wait(smem_ + Plan::full_v(stage.index), stage.parity);
    const unsigned tile = smem_ + Plan::value(stage.index) + value_lane();
    const unsigned long long p = swizzled_descriptor(smem_ + Plan::kP, 0);
#pragma unroll
    for (int m = 0; m < S::kKeyTiles; ++m) {
#pragma unroll
      for (int panel = 0; panel < S::kPanels; ++panel) {
        Fragment values[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; i += 2) {
          load_values(values[i], values[i + 1], tile, panel, (kAtOnce * m + i) / 2);
        }
        begin_products();
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          product<S::kProbabilitiesAreBf16, S::kRows>(
              sums.o[panel], values[i], p + m * (Plan::kPanelBytesQ / 16) + i * (32 / 16), 1);
        }
        end_products();
      }
    }
    await_products<S>(sums.o, smem_, Plan::full_v(stage.index), lane_);
  }

 private:
  using Fragment = unsigned[4];

  enum : unsigned { kOrderedBarrier = 7 };
  enum : int {
    kColumnSteps = S::kHeadDim / 16,
    kAtOnce = 4,  // fragments that are converted while the products of as many others run
    kPairsOfLine = S::kLineBytes / 32,    // of chunks
    kPanelsOfLine = S::kLineBytes / 64,   // of 64 columns
    kKeysOfPattern = 128 / S::kLineBytes  // that are swizzled alike
  };

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

  // Fragments of the 64 keys with number m, and of columns 32 * pair to 32 * pair + 31.
  __device__ __forceinline__ static void load_keys(Fragment& first, Fragment& second, unsigned tile,
                                                   int m, int pair) {
    unsigned four[4];
    ldmatrix_x4(four, (tile ^ 32 * (pair % kPairsOfLine)) +
                          pair / kPairsOfLine * Layout::kPanelBytes +
                          m * (8 * Layout::kEightKeysBytes));
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const TwoPairs a = neighbours<S::kIsBf16, kKvIsE4m3>(four[i]);
      const TwoPairs b = neighbours<S::kIsBf16, kKvIsE4m3>(four[2 + i]);
      first[i] = a.first;
      first[2 + i] = a.second;
      second[i] = b.first;
      second[2 + i] = b.second;
    }
  }

  // Fragments of 64 columns of V, and of keys 32 * half to 32 * half + 31.
  __device__ __forceinline__ static void load_values(Fragment& first, Fragment& second,
                                                     unsigned tile, int panel, int half) {
    unsigned four[4];
    ldmatrix_x4_trans(four, (tile ^ 64 * (panel % kPanelsOfLine)) +
                                panel / kPanelsOfLine * Layout::kPanelBytes +
                                half * (4 * Layout::kEightKeysBytes));
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const TwoPairs a = alternates<kKvIsE4m3>(four[i]);
      const TwoPairs b = alternates<kKvIsE4m3>(four[2 + i]);
      first[2 * i] = a.first;
      first[2 * i + 1] = a.second;
      second[2 * i] = b.first;
      second[2 * i + 1] = b.second;
    }
  }

  // Orders the conversions before the products that follow.
  __device__ __forceinline__ static void begin_products() { wgmma_fence(); }

  // After this, the registers of the products before these are free.
  __device__ __forceinline__ static void end_products() {
    wgmma_commit();
    wgmma_wait<1>();
  }

  const unsigned smem_;
  const int lane_;
};

#endif
