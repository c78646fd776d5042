// Attention forward with mma.sync, ldmatrix and cp.async, for compute capability 8.0 and newer.
//
// One thread block computes kBlockM query rows of one (batch, head). It visits KV tiles from the
// last to the first that any row sees, so that ragged and causal masks come first. There is one
// buffer each for K and V. Eager:
//
//   copies   | Q K[n]   | V[n]      | K[n-1]           | V[n-1]      | ...
//   warps    |          | S = Q K^T | softmax, O += PV | S = Q K^T   | ...
//            ^ wait+sync            ^ wait+sync        ^ wait+sync
//
// If not eager, each copy starts right before its use and is waited for at once.
//
// A block of a packed batch finds its rows itself: block_rows().
#include "common/packed_units.cuh"
#include "flash_sm80/config.cuh"
#include "flash_sm80/debug_dump.cuh"
#include "flash_sm80/epilogue.cuh"
#include "flash_sm80/mask.cuh"
#include "flash_sm80/mma_tiles.cuh"
#include "flash_sm80/smem_layout.cuh"
#include "flash_sm80/softmax.cuh"
#include "flash_sm80/tile_copy.cuh"

// Which rows a block computes: the first, counted in its sequence, which is all of a batch unless
// the batch is packed.
struct BlockRows {
  int first;
  PackedSequence sequence;
};

// Finds the rows of a block of a packed batch. Of a sequence the first units of kBlockM rows or,
// under a causal mask, the last ones come first. Returns whether there are any.
// threads: whole warps, converged; each finds them itself
template <typename S, typename Args>
__device__ __forceinline__ bool find_rows(const Args& args, BlockRows& rows) {
  constexpr int kMostKeys = kWindow > 0 ? kWindow + S::kBlockM + kKeysAfter : 1 << 30;
  using Units = PackedUnits<S::kBlockM, kMostKeys, Args>;
  Units units(args);
  int after;
  const bool exists = units.find(static_cast<int>(blockIdx.x), rows.sequence, after);
  const int unit = kCausal ? after : Units::units_of(rows.sequence.seq_len) - 1 - after;
  rows.first = unit * S::kBlockM;
  return exists;
}

// What one thread keeps over the whole loop.
template <FlashForwardKernelConfig kConfig>
struct Forward {
  using S = Shape<kConfig>;

  const KernelArgs& args;
  const CopyLane<S> copy;
  const int lane;
  const int q_start;  // first query row of the block
  const PackedSequence sequence;
  const int warp_row;  // first query row of the warp within the block
  const unsigned sQ, sK, sV;
  const LdmatrixLane<S> q_lane, k_lane, v_lane;
  const unsigned short* gK;  // this thread's first element of KV tile 0
  const unsigned short* gV;
  const float scale_log2;
  QueryFragment<S, S::kQkSteps> rQ;  // used when kQResident
  OutputFragment<S> rO;
  SoftmaxState<S> state;

  // Rows of Q, and of K and V, of the block's sequence.
  __device__ __forceinline__ int queries() const {
    return kPacked ? sequence.seq_len : args.seq_len;
  }
  __device__ __forceinline__ int keys() const {
    return kPacked ? sequence.seq_len_kv : kv_length(args);
  }

  // Elements before the first row of a head: blockIdx = (query tile, head, batch).
  // shape: rows, row_stride: of the tensor; head: within the batch; heads: of the tensor
  __device__ __forceinline__ static long long head_offset(int rows, int row_stride, unsigned head,
                                                          unsigned heads) {
    if constexpr (kHeadsFirst) {
      return (static_cast<long long>(blockIdx.z) * heads + head) * rows * row_stride;
    }
    return (static_cast<long long>(blockIdx.z) * rows * row_stride) +
           static_cast<long long>(head) * S::kHeadDim;
  }
  // Offset of the block's head in Q and O, or of a packed batch of its sequence's rows of the head.
  __device__ __forceinline__ long long query_offset() const {
    const long long head = head_offset(args.seq_len, kRowStride, blockIdx.y, gridDim.y);
    return kPacked ? head + static_cast<long long>(sequence.first_query) * kRowStride : head;
  }
  // Offset of the head that the block shares in K and V.
  __device__ __forceinline__ long long kv_offset() const {
    const long long head =
        head_offset(kv_length(args), kKvRowStride, blockIdx.y / kGroup, gridDim.y / kGroup);
    return kPacked ? head + static_cast<long long>(sequence.first_key) * kKvRowStride : head;
  }

  // From a row's position among the queries to its position among the keys.
  __device__ __forceinline__ int diagonal() const {
    return kOtherKvLength ? keys() - queries() : 0;
  }

  __device__ __forceinline__ Forward(const KernelArgs& a, unsigned smem, const BlockRows& rows)
      : args(a),
        copy(threadIdx.x),
        lane(threadIdx.x % 32),
        // Causal tiles cost more the later they are: the longest start first.
        q_start(kPacked ? rows.first
                        : (kCausal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * S::kBlockM),
        sequence(rows.sequence),
        warp_row(threadIdx.x / 32 * S::kWarpRows),
        sQ(smem),
        sK(smem + S::kBytesQ),
        sV(smem + S::kBytesQ + S::kBytesKV),
        q_lane(row_major_lane<S>(sQ + warp_row * S::kRowBytes, lane)),
        k_lane(column_major_lane<S>(sK, lane)),
        v_lane(row_major_lane<S>(sV, lane)),
        gK(static_cast<const unsigned short*>(a.k) + kv_offset() +
           copy.template offset_in<kKvRowStride>()),
        gV(static_cast<const unsigned short*>(a.v) + kv_offset() +
           copy.template offset_in<kKvRowStride>()),
        scale_log2(score_unit(a) * 1.44269504088896340736f) {
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m) {
      state.reference[m][0] = state.reference[m][1] = negative_infinity();
      state.sum[m][0] = state.sum[m][1] = 0.0f;
#pragma unroll
      for (int n = 0; n < S::kDimTiles; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          rO[m][n][i] = 0.0f;
        }
      }
    }
  }

  // The range of tiles with a key that some row of the block sees. If no row sees any key, the last
  // is before the first.
  __device__ __forceinline__ int last_kv_tile() const {
    const int seen = q_start + S::kBlockM + diagonal() + kKeysAfter;
    const int end = kCausal || kWindow > 0 ? min(seen, keys()) : keys();
    if constexpr (kRowsWithoutKeys) {
      return end > 0 ? (end - 1) / S::kBlockN : -1;
    } else {
      return (end - 1) / S::kBlockN;
    }
  }
  __device__ __forceinline__ int first_kv_tile() const {
    if constexpr (kWindow > 0) {
      return max(q_start + diagonal() - kWindow + 1, 0) / S::kBlockN;
    } else {
      return 0;
    }
  }

  // Starts the copy of this block's queries. threads, sync: as copy_tile
  __device__ __forceinline__ void copy_queries() const {
    const unsigned short* gQ = static_cast<const unsigned short*>(args.q) + query_offset() +
                               static_cast<long long>(q_start) * kRowStride + copy.g_offset;
    copy_tile<S, S::kBlockM, kRowStride, kConfig.async_copy, kRaggedQ>(sQ, gQ, copy,
                                                                       queries() - q_start);
  }

  // Starts the copy of one K or V tile. threads, sync: as copy_tile
  __device__ __forceinline__ void copy_kv(unsigned s, const unsigned short* g, int tile) const {
    constexpr bool kAsync = kConfig.async_copy;
    const unsigned short* from = g + static_cast<long long>(tile) * (S::kBlockN * kKvRowStride);
    const int rows_left = keys() - tile * S::kBlockN;
    if (kRaggedKV && rows_left < S::kBlockN) {
      copy_tile<S, S::kBlockN, kKvRowStride, kAsync, true>(s, from, copy, rows_left);
    } else {
      copy_tile<S, S::kBlockN, kKvRowStride, kAsync, false>(s, from, copy, rows_left);
    }
  }

  // Waits until every copy started so far has landed and is visible to the block. sync: a CTA
  // barrier
  __device__ __forceinline__ void wait_and_sync() const {
    if constexpr (kConfig.async_copy) {
      cp_async_wait_all();
    }
    __syncthreads();
  }

  __device__ __forceinline__ void cap(ScoreFragment<S>& rS) const {
    if constexpr (kSoftcap) {
#pragma unroll
      for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
        for (int n = 0; n < S::kKeyTiles; ++n) {
          cap_scores<4>(rS[m][n], args);
        }
      }
    }
  }

  __device__ __forceinline__ void mask(ScoreFragment<S>& rS, int tile) const {
    if constexpr (kCausal || kWindow > 0 || kRaggedKV) {
      const int first_key = tile * S::kBlockN;
      const int first_row = q_start + warp_row + diagonal();
      const bool past_query =
          (kCausal || kWindow > 0) && first_key + S::kBlockN - 1 > first_row + kKeysAfter;
      const bool past_end = kRaggedKV && first_key + S::kBlockN > keys();
      const bool before_window = kWindow > 0 && first_key <= first_row + S::kWarpRows - 1 - kWindow;
      if (past_query || past_end || before_window) {
        mask_scores<S>(rS, first_row + lane / 4, first_key + lane % 4 * 2, keys());
      }
    }
  }

  // One KV tile: S = Q K^T, softmax, O += P V.
  // sync:    in: K (eager: already copied or under way) ; out: V may still be read by other warps
  template <bool kFirst>
  __device__ __forceinline__ void step(int tile) {
    if constexpr (!kConfig.eager_load_blocks) {
      __syncthreads();  // every warp is done with the last V, so both buffers are free
      copy_kv(sK, gK, tile);
    }
    wait_and_sync();
    if constexpr (kFirst && S::kQResident) {
      load_query<S, S::kQkSteps>(rQ, q_lane, 0);
    }
    if constexpr (kConfig.eager_load_blocks) {
      copy_kv(sV, gV, tile);
    }
    ScoreFragment<S> rS;
    scores<S>(rS, rQ, q_lane, k_lane);
    if constexpr (!kConfig.eager_load_blocks) {
      copy_kv(sV, gV, tile);
    }
    wait_and_sync();
    if (kConfig.eager_load_blocks && tile > first_kv_tile()) {
      copy_kv(sK, gK, tile - 1);
    }
    cap(rS);
    mask(rS, tile);
    const StepDump<S> dump(args, q_start + warp_row, tile, lane);
    dump.scores(rS, scale_log2);
    if constexpr (kConfig.optimized_softmax) {
      softmax_step_optimized<S, kFirst>(rS, state, rO, scale_log2);
    } else {
      softmax_step_plain<S>(rS, state, rO, scale_log2);
    }
    ProbFragment<S> rP;
    pack_probabilities<S>(rP, rS);
    accumulate_output<S>(rO, rP, v_lane);
    dump.results(state, unit_log2(), rP, rO);
  }

  // The softmax's references times this factor are exponents of two.
  __device__ __forceinline__ float unit_log2() const {
    return kConfig.optimized_softmax ? scale_log2 : 1.0f;
  }

  __device__ __forceinline__ void run() {
    const int last = last_kv_tile();
    if constexpr (kRowsWithoutKeys) {
      if (last < first_kv_tile()) {
        return;
      }
    }
    copy_queries();
    if constexpr (kConfig.eager_load_blocks) {
      copy_kv(sK, gK, last);
    }
    int tile = last;
    if constexpr (kConfig.optimized_softmax) {
      step<true>(tile--);
    } else if constexpr (S::kQResident) {
      wait_and_sync();
      load_query<S, S::kQkSteps>(rQ, q_lane, 0);
    }
    // Written so that without a window NVRTC meets the constant, which decides the loop's form.
#pragma unroll 1
    for (; kWindow > 0 ? tile >= first_kv_tile() : tile >= 0; --tile) {
      step<false>(tile);
    }
  }

  // Rows of all heads before the first of the block's sequence in its head.
  __device__ __forceinline__ long long rows_before() const {
#if FATUNE_PACKED
    const long long rows_of_head = __ldg(args.cu_seqlens_q + args.batch);
    return blockIdx.y * rows_of_head + sequence.first_query;
#else
    const long long head = static_cast<long long>(blockIdx.z) * gridDim.y + blockIdx.y;
    return head * args.seq_len;
#endif
  }

  __device__ __forceinline__ void finish() {
    normalise_output<S>(rO, state, sink_of(args, static_cast<int>(blockIdx.y)), unit_log2());
    const unsigned sO = sQ + warp_row * S::kRowBytes;
    const int first_row = q_start + warp_row;
    stage_output<S>(sO, rO, lane);
    __syncwarp();
    store_output<S>(static_cast<unsigned short*>(args.o) + query_offset() +
                        static_cast<long long>(first_row) * kRowStride,
                    sO, queries() - first_row, lane);
    if constexpr (kWritesLse) {
      store_log_sum_exp<S>(log_sum_exps(args) + rows_before() + first_row, state, unit_log2(),
                           queries() - first_row, lane);
    }
  }
};

// O = softmax(softmax_scale * Q K^T [causal, window]) V, and the log-sum-exp if it is wanted.
// shape:   grid (ceil(seq_len / B_r), heads, batch), or of a packed batch (the most units of B_r
//          rows that there can be, heads, 1);
//          block 32 * n_warps;
//          dynamic shared memory (B_r + 2 * B_c) * d_head * 2 bytes
template <FlashForwardKernelConfig kConfig>
__global__ void __launch_bounds__(Shape<kConfig>::kThreads, FATUNE_MIN_BLOCKS)
    flash_forward_kernel(const __grid_constant__ KernelArgs args) {
  extern __shared__ __align__(1024) unsigned char smem[];
  BlockRows rows;  // used of a packed batch only: with values, the code of others would change
  if constexpr (kPacked) {
    if (!find_rows<Shape<kConfig>>(args, rows)) {
      return;
    }
  }
  Forward<kConfig> forward(args, shared_address(smem), rows);
  forward.run();
  forward.finish();
}
