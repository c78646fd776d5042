// A small attention kernel of Hopper that shows, and tests, how a family describes a kernel with
// arguments of its own: tensor maps, a struct, a work counter, a second output. Correct, not fast.
// One warp per block; a thread has one query row. Online softmax.
// source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018
#include "common/ptx_convert.cuh"
#include "tma_toy/tma.cuh"

constexpr int kHeadDim = TOY_d_head;
constexpr int kKeys = TOY_KEYS;
constexpr int kRows = 32;
constexpr unsigned kBoxBytes = kKeys * kHeadDim * 2;
constexpr float kLog2E = 1.44269504088896340736f;

struct Half {
  static constexpr int kCode = 5;
};
struct Brain {
  static constexpr int kCode = 15;
};
constexpr bool kIsBf16 = TOY_ELEMENT::kCode == 15;

// The members that family.json lists.
struct Work {
  const unsigned short* q;
  unsigned short* o;
  float* row_sum;  // [batch, heads, seq_len]
  int seq_len;
  int heads;
  int tiles;
  float softmax_scale;
  unsigned query_tiles_magic;  // n / query_tiles: family.json's umulhi_magic
  int query_tiles_shift;       // -1: there is one
};

__device__ __forceinline__ float to_float(unsigned short bits) {
  return kIsBf16 ? __uint_as_float(static_cast<unsigned>(bits) << 16) : cvt_f32<false>(bits);
}

struct Tile {
  int batch;
  int head;
  int first_row;
};

__device__ Tile tile_of(const Work& work, int index) {
  const int query_tiles = (work.seq_len + kRows - 1) / kRows;
  const int of_head =
      work.query_tiles_shift < 0
          ? index
          : static_cast<int>(__umulhi(index, work.query_tiles_magic)) >> work.query_tiles_shift;
  return {of_head / work.heads, of_head % work.heads, (index - of_head * query_tiles) * kRows};
}

struct RowState {
  float q[kHeadDim];
  float o[kHeadDim];
  float greatest;
  float sum;
};

// Adds the keys [first, first + kKeys) that the row sees.
__device__ void attend(const unsigned short* sK, const unsigned short* sV, int first, int keys,
                       RowState& state) {
  for (int key = 0; key < kKeys && first + key < keys; ++key) {
    float score = 0.0f;
    for (int i = 0; i < kHeadDim; ++i) {
      score += state.q[i] * to_float(sK[key * kHeadDim + i]);
    }
    const float greatest = fmaxf(state.greatest, score);
    const float rescale = exp2f(state.greatest - greatest);  // 0 for the first key
    const float weight = exp2f(score - greatest);
    state.greatest = greatest;
    state.sum = state.sum * rescale + weight;
    for (int i = 0; i < kHeadDim; ++i) {
      state.o[i] = state.o[i] * rescale + weight * to_float(sV[key * kHeadDim + i]);
    }
  }
}

struct Shared {
  unsigned short* k;
  unsigned short* v;
  unsigned long long* barrier;
  unsigned parity;
};

// threads: one warp, converged
__device__ void load_keys(const TensorMap* map_k, const TensorMap* map_v, const Tile& tile,
                          int first, Shared& shared) {
  __syncwarp();  // nobody reads the keys before these any more
  if (threadIdx.x == 0) {
    mbarrier_expect(shared.barrier, 2 * kBoxBytes);
    load_box(shared.k, map_k, tile.head, first, tile.batch, shared.barrier);
    load_box(shared.v, map_v, tile.head, first, tile.batch, shared.barrier);
  }
  mbarrier_wait(shared.barrier, shared.parity);
  shared.parity ^= 1;
}

__device__ void compute_tile(const TensorMap* map_k, const TensorMap* map_v, const Work& work,
                             float masked, const Tile& tile, Shared& shared) {
  const int row = tile.first_row + static_cast<int>(threadIdx.x);
  const bool is_row = row < work.seq_len;
  const long long at =
      ((static_cast<long long>(tile.batch) * work.seq_len + row) * work.heads + tile.head) *
      kHeadDim;
  RowState state;
  for (int i = 0; i < kHeadDim; ++i) {
    state.q[i] = is_row ? to_float(work.q[at + i]) * work.softmax_scale * kLog2E : 0.0f;
    state.o[i] = 0.0f;
  }
  state.greatest = masked;
  state.sum = 0.0f;
  const int last_row = min(tile.first_row + kRows, work.seq_len) - 1;
  const int all_keys = TOY_CAUSAL ? last_row + 1 : work.seq_len;
  const int keys = !is_row ? 0 : TOY_CAUSAL ? row + 1 : work.seq_len;
  for (int first = 0; first < all_keys; first += kKeys) {
    load_keys(map_k, map_v, tile, first, shared);
    attend(shared.k, shared.v, first, keys, state);
  }
  if (is_row) {
    for (int i = 0; i < kHeadDim; ++i) {
      work.o[at + i] = cvt_rn<kIsBf16>(state.o[i] / state.sum);
    }
    work.row_sum[(static_cast<long long>(tile.batch) * work.heads + tile.head) * work.seq_len +
                 row] = state.sum;
  }
}

__device__ Shared begin_shared() {
  extern __shared__ __align__(128) unsigned short tiles[];
  __shared__ unsigned long long barrier;
  if (threadIdx.x == 0) {
    mbarrier_init(&barrier, 1);
  }
  __syncwarp();
  return {tiles, tiles + kKeys * kHeadDim, &barrier, 0};
}

// shape: grid (tiles); block 32
extern "C" __global__ void __launch_bounds__(32)
    tma_toy_static(const __grid_constant__ TensorMap map_k, const __grid_constant__ TensorMap map_v,
                   const Work work, const float masked) {
  Shared shared = begin_shared();
  compute_tile(&map_k, &map_v, work, masked, tile_of(work, blockIdx.x), shared);
}

// shape: any grid; block 32. *next_tile: 0 at first
extern "C" __global__ void __launch_bounds__(32)
    tma_toy_dynamic(const __grid_constant__ TensorMap map_k,
                    const __grid_constant__ TensorMap map_v, const Work work, const float masked,
                    int* next_tile) {
  Shared shared = begin_shared();
  for (;;) {
    int tile = threadIdx.x == 0 ? atomicAdd(next_tile, 1) : 0;
    tile = __shfl_sync(0xffffffffu, tile, 0);
    if (tile >= work.tiles) {
      return;
    }
    compute_tile(&map_k, &map_v, work, masked, tile_of(work, tile), shared);
  }
}
