// What a thread of a consumer has of a part: sums of O, and the state of its rows' softmax.
//
// O is in groups of four accumulators, a square of two rows and two columns. A pair is the two rows
// of a square; all squares of a thread have one of kPairs pairs, and kSquares squares have the
// same.
#ifndef FATUNE_KERNELS_FLASH_DECODE_SUMS_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SUMS_CUH

#include "common/online_softmax.cuh"
#include "common/ptx_math.cuh"
#include "common/ptx_mma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/products.cuh"

__device__ __forceinline__ float inverse_or_zero(float sum) {
  return sum > 0.0f ? 1.0f / sum : 0.0f;
}

// Where a square is in the tile of rows and in O.
struct Square {
  int pair;  // among all pairs of the tile
  int rows[2];
  int columns[2];
};

// What a short consumer has: O^T is computed, so that neighbouring accumulators are of different
// rows.
template <typename S>
struct ShortSums {
  static constexpr int kPairs = S::kRefs / 2;
  static constexpr int kSquares = S::kPanels;
  // Whether the columns of a square are neighbours, as those of converted_products.cuh.
  static constexpr bool kAdjacent = kKvIs8Bit;

  float o[S::kPanels][S::kScores];  // as of `product`
  float reference[S::kRefs];        // raw scores, the same in all threads that have the row
  float sum[S::kRefs];              // of probabilities

  // The square's elements, row by row.
  __device__ __forceinline__ float4 elements(int pair, int square) const {
    const float* const from = o[square] + 4 * pair;
    return {from[0], from[2], from[1], from[3]};
  }
  // References and sums of the pair's rows.
  __device__ __forceinline__ float4 state(int pair) const {
    return {reference[2 * pair], sum[2 * pair], reference[2 * pair + 1], sum[2 * pair + 1]};
  }
  // Squares of the tile's first rows, and the one with this number among them, as an index into
  // those of all threads.
  __device__ __forceinline__ static int squares_of(int rows) {
    return (rows + 1) / 2 * (S::kHeadDim / 2);
  }
  __device__ __forceinline__ static int index_of(int number, int rows) {
    const int pairs = (rows + 1) / 2;
    const int columns =
        static_cast<int>(static_cast<unsigned>(number) / static_cast<unsigned>(pairs));
    const int of_tile = number - columns * pairs;
    const int thread = columns / 8 % 4 * 32 + columns % 8 * 4 + of_tile % 4;
    return (columns / 32 * kPairs + of_tile / 4) * S::kConsumers + thread;
  }

  // Writes the first rows of O, divided by their sums, to a tile of Q, and zeros to its other rows:
  // what other parts would leave there may not decide when references are raised.
  __device__ __forceinline__ void stage(unsigned tile, int rows) const {
    float inverse[S::kRefs];
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      inverse[r] = inverse_or_zero(sum[r]);
    }
    const int first_row = static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
    for (int panel = 0; panel < S::kPanels; ++panel) {
      const auto element = [&](int i) {
        const int r = i / 4 * 2 + i % 2;
        return 8 * (r / 2) + r % 2 + first_row < rows ? o[panel][i] * inverse[r] : 0.0f;
      };
      if constexpr (kAdjacent) {
        store_neighbours<S>(tile + panel * SmemPlan<S>::kPanelBytesQ, element);
      } else {
        store_transposed<S, S::kIsBf16>(tile + panel * SmemPlan<S>::kPanelBytesQ, element);
      }
    }
  }

  // Whether no other thread of the consumer with a lower index has the pair's state.
  __device__ __forceinline__ static bool is_first(int thread) { return thread < 4; }
  // Whether the thread stores the pair's state for all consumers.
  __device__ __forceinline__ static bool stores_state(int thread) { return is_first(thread); }

  __device__ __forceinline__ static Square square_at(int pair, int square, int thread) {
    const int lane = thread % 32;
    const int of_tile = 4 * pair + lane % 4;
    const int first = 64 * square + thread / 32 * 16;  // of the warp's
    const int column = kAdjacent ? first + lane / 4 * 2 : first + lane / 4;
    return {of_tile, {2 * of_tile, 2 * of_tile + 1}, {column, column + (kAdjacent ? 1 : 8)}};
  }
};

// What a tall consumer has. Two latent ones have the same rows, and columns of O side by side.
template <typename S>
struct TallSums {
  static constexpr int kPairs = 1;
  static constexpr int kSquares = S::kOutputs / 4;
  static constexpr bool kAdjacent = true;

  float o[S::kOutputs];  // as of wgmma_registers
  SoftmaxState softmax;

  __device__ __forceinline__ float4 elements(int, int square) const {
    return {o[4 * square], o[4 * square + 1], o[4 * square + 2], o[4 * square + 3]};
  }
  __device__ __forceinline__ float4 state(int) const {
    return {softmax.reference[0], softmax.sum[0], softmax.reference[1], softmax.sum[1]};
  }
  __device__ __forceinline__ static int squares_of(int) { return kSquares * S::kConsumers; }
  __device__ __forceinline__ static int index_of(int number, int) { return number; }

  // Eight neighbouring columns of O, times `factor`, of row h of the thread's two: those of square
  // 4 * block + lane % 4. The lanes of a quad have two columns of each square, and exchange them.
  __device__ __forceinline__ uint4 eight_columns(int h, int block, float factor) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    unsigned r[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float* const from = o + 4 * (4 * block + j) + 2 * h;
      r[j] = cvt_rn_x2<S::kIsBf16>(from[0] * factor, from[1] * factor);
    }
    exchange(r[0], r[1], 1, (lane & 1) != 0);
    exchange(r[2], r[3], 1, (lane & 1) != 0);
    exchange(r[0], r[2], 2, (lane & 2) != 0);
    exchange(r[1], r[3], 2, (lane & 2) != 0);
    return {r[0], r[1], r[2], r[3]};
  }
  __device__ __forceinline__ static bool is_first(int thread) { return thread % 4 == 0; }
  __device__ __forceinline__ static bool stores_state(int thread) {
    return is_first(thread) && (!S::kLatent || thread < 128);
  }
  // Of the consumer's.
  __device__ __forceinline__ static int first_column() { return first_column_of(threadIdx.x); }

  __device__ __forceinline__ static Square square_at(int, int square, int thread) {
    const int warp = (S::kLatent ? thread % 128 : thread) / 32;
    const int in_warp = thread % 32 / 4;
    const int row = 16 * warp + in_warp;
    const int column = first_column_of(thread) + 8 * square + thread % 4 * 2;
    return {8 * warp + in_warp, {row, row + 8}, {column, column + 1}};
  }

 private:
  __device__ __forceinline__ static int first_column_of(int thread) {
    return S::kLatent ? thread / 128 * (2 * S::kOutputs) : 0;
  }

  // A lane keeps one word, and gets the same one of the lane at `distance`, which keeps the other.
  __device__ __forceinline__ static void exchange(unsigned& low, unsigned& high, int distance,
                                                  bool keeps_high) {
    const unsigned other = __shfl_xor_sync(0xffffffffu, keeps_high ? low : high, distance);
    (keeps_high ? low : high) = other;
  }
};

#endif
