// flash_sm90 with one mistake of the kind that people make, which FATUNE_MISTAKE names
// (family.json). The kernel is flash_sm90's own, from its headers. Functions of this file replace
// some that it calls: each makes its mistake if that is chosen, and else calls the right one. So
// `none` is flash_sm90.
#include "flash_sm90/config.cuh"
#include "flash_sm90/epilogue.cuh"
#include "flash_sm90/mask.cuh"
#include "flash_sm90/smem_plan.cuh"
#include "flash_sm90/tile_schedule.cuh"
#include "flash_sm90/warp_scores.cuh"

#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "common/ptx_wgmma.cuh"

enum Mistake {  // values as in family.json
  kNone,
  kWrongParity,        // the consumer waits for K's first phase in every round of the ring
  kMissingFence,       // no wgmma.fence before the products
  kWrongExpectTx,      // the producer expects 16 bytes more than a tile has
  kEarlyRelease,       // the consumer gives a stage back before its product is waited for
  kWaitCount,          // one group more may be under way than the wait should leave
  kVStrides,           // panels of V twice as far apart in the descriptor as they are
  kMissingProxyFence,  // O is stored by TMA without a proxy fence
  kBarrierTrip,        // the first consumer's turn never comes: nobody begins the round
  kRegisterOverwrite,  // P's registers are written while the product with V reads them
  kTailMask,           // keys past the end are not masked
  kUnpaddedBytes,      // the producer expects the rows' own bytes, without the zeros behind them
  kUnclippedRows,      // rows of the tensor maps fill the panels, so TMA goes on past their end
  kRowsAsQueries,      // with pack_gqa, the mask takes a thread's first row for a query of its own
  kDirtyRows,          // with pack_gqa, rows of Q that no query fills are not cleared
  kUncheckedSums,      // with skip_max, sums that are too great are taken for good
  kRowsOfFirstWarp     // with skip_max, all warps compute the first one's scores again
};
constexpr Mistake kMistake = static_cast<Mistake>(FATUNE_MISTAKE);

// The kernel's template argument: its own configuration, and the mistake, which is a define.
struct BrokenHopperConfig {
  HopperForwardConfig right;
  int mistake;
  __host__ __device__ constexpr operator HopperForwardConfig() const { return right; }
};

// units: as mbarrier_arrive_expect
__device__ __forceinline__ void broken_arrive_expect(unsigned barrier, unsigned bytes) {
  constexpr unsigned kRowElements = 72;  // in panels of 128
  mbarrier_arrive_expect(barrier, kMistake == kWrongExpectTx   ? bytes + 16
                                  : kMistake == kUnpaddedBytes ? bytes / 128 * kRowElements
                                                               : bytes);
}

// The producer is right except for the number of bytes that it expects.
#define mbarrier_arrive_expect broken_arrive_expect
#include "flash_sm90/producer.cuh"

// A ring whose place moves on once the product that it waited for too late is there.
template <int kCount>
class BrokenRing : public Ring<kCount> {
 public:
  __device__ __forceinline__ void advance() {
    if constexpr (kMistake == kEarlyRelease) {
      wgmma_wait<0>();
    }
    Ring<kCount>::advance();
  }
};

// shape: barrier: an offset in `Plan`
template <typename Plan>
__device__ __forceinline__ void broken_wait(unsigned smem, unsigned barrier, unsigned parity) {
  const bool of_k = barrier - smem >= Plan::full_k(0) && barrier - smem < Plan::full_v(0);
  mbarrier_wait(barrier, kMistake == kWrongParity && of_k ? 0 : parity);
}

__device__ __forceinline__ void broken_wgmma_fence() {
  if constexpr (kMistake != kMissingFence) {
    wgmma_fence();
  }
}

template <int kPending>
__device__ __forceinline__ void broken_wgmma_wait() {
  if constexpr (kMistake != kEarlyRelease) {
    wgmma_wait<kMistake == kWaitCount ? kPending + 1 : kPending>();
  }
}

__device__ __forceinline__ unsigned long long broken_descriptor(unsigned address,
                                                                unsigned leading_bytes) {
  return swizzled_descriptor(address, kMistake == kVStrides ? 2 * leading_bytes : leading_bytes);
}

__device__ __forceinline__ void broken_fence_async_proxy() {
  if constexpr (kMistake != kMissingProxyFence) {
    fence_async_proxy();
  }
}

// threads: as named_barrier_arrive; barrier 1 is the first consumer's turn
__device__ __forceinline__ void broken_barrier_arrive(unsigned id, unsigned threads) {
  if (kMistake != kBarrierTrip || id != 1) {
    named_barrier_arrive(id, threads);
  }
}

// shape: as wgmma_registers
template <bool kIsBf16, int kColumns, bool kIsKMajor = false>
__device__ __forceinline__ void broken_wgmma_registers(float* d, unsigned* a, unsigned long long b,
                                                       int add) {
  wgmma_registers<kIsBf16, kColumns, kIsKMajor>(d, a, b, add);
  if constexpr (kMistake == kRegisterOverwrite) {
    asm volatile("mov.b32 %0, 0;" : "+r"(a[0]));
  }
}

// threads, shape: as mask_scores and step_is_masked
template <int kKeys, typename S>
__device__ __forceinline__ bool broken_step_is_masked(int step, int position, int keys) {
  return kMistake != kTailMask && step_is_masked<kKeys, S>(step, position, keys);
}

__device__ __forceinline__ int broken_query_of(int row) {
  return kMistake == kRowsAsQueries ? row : query_of(row);
}

// shape: as st_shared_16
__device__ __forceinline__ void broken_st_shared_16(unsigned shared, uint4 v) {
  if constexpr (kMistake != kDirtyRows) {
    st_shared_16(shared, v);
  }
}

// shape, threads: as softmax_step_without_max
template <int kKeys, typename S>
__device__ __forceinline__ bool broken_softmax_step_without_max(float (&s)[S::kScores],
                                                                SoftmaxState& state,
                                                                float scale_log2) {
  const bool done = softmax_step_without_max<kKeys, S>(s, state, scale_log2);
  return done || kMistake == kUncheckedSums;
}

// shape, threads: as warp_scores
template <typename S>
__device__ __forceinline__ void broken_warp_scores(float (&s)[S::kScores], unsigned query,
                                                   unsigned key, int warp, int lane) {
  warp_scores<S>(s, query, key, kMistake == kRowsOfFirstWarp ? 0 : warp, lane);
}

#define Ring BrokenRing
#define mbarrier_wait(barrier, parity) broken_wait<Plan>(smem_, barrier, parity)
#define wgmma_fence broken_wgmma_fence
#define wgmma_wait broken_wgmma_wait
#define wgmma_registers broken_wgmma_registers
#define swizzled_descriptor broken_descriptor
#define fence_async_proxy broken_fence_async_proxy
#define named_barrier_arrive broken_barrier_arrive
#define step_is_masked broken_step_is_masked
#define query_of broken_query_of
#define st_shared_16 broken_st_shared_16
#define softmax_step_without_max broken_softmax_step_without_max
#define warp_scores broken_warp_scores
#include "flash_sm90/flash_forward.cu"
