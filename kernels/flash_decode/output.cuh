// Stores the rows of a part: O if the part has all keys, or its sums, which are added up with those
// of the other parts, in an order that only their number decides, so that results have the same
// bits in every run.
#ifndef FATUNE_KERNELS_FLASH_DECODE_OUTPUT_CUH
#define FATUNE_KERNELS_FLASH_DECODE_OUTPUT_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_convert.cuh"
#include "common/ptx_math.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/sums.cuh"

// References and sums of two rows, and two squares of O with these rows, of some of the parts. The
// layout of `state` is that of Sums::state.
struct PartialSums {
  float4 state;
  float4 o[2];

  __device__ __forceinline__ static float base_of(float reference) {
    return reference == negative_infinity() ? 0.0f : reference;
  }

  __device__ __forceinline__ static PartialSums none() {
    return {{negative_infinity(), 0.0f, negative_infinity(), 0.0f}, {{}, {}}};
  }

  // Makes the references these, which are not less.
  __device__ __forceinline__ void raise(float first, float second, float scale_log2) {
    const float a = ex2_approx_ftz((state.x - base_of(first)) * scale_log2);
    const float b = ex2_approx_ftz((state.z - base_of(second)) * scale_log2);
    state = {first, state.y * a, second, state.w * b};
#pragma unroll
    for (float4& square : o) {
      square = {square.x * a, square.y * a, square.z * b, square.w * b};
    }
  }

  // Adds sums that have the same references.
  __device__ __forceinline__ void add(const PartialSums& other) {
    state.y += other.state.y;
    state.w += other.state.w;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      o[i] = {o[i].x + other.o[i].x, o[i].y + other.o[i].y, o[i].z + other.o[i].z,
              o[i].w + other.o[i].w};
    }
  }
};

inline constexpr unsigned kStoreBarrier = 8;

template <typename S, typename Sums>
class Output {
 public:
  __device__ __forceinline__ explicit Output(const Work& work)
      : work_(work), scale_log2_(score_unit(work) * 1.44269504088896340736f) {}

  // threads: all consumers, converged, in all functions
  // Stores the rows of a part that has all keys. tile: its tile of Q, through which the rows of a
  // short consumer go. sync: out: the tile may be loaded again
  __device__ __forceinline__ void store_rows(const Part& part, const Sums& sums,
                                             unsigned tile) const {
    store_lse(part, sums);
    if constexpr (S::kTall) {
      store_own_rows(part, sums);
    } else {
      sums.stage(tile, rows_of(part));
      named_barrier_wait(kStoreBarrier, S::kConsumers);
      copy_rows(part, tile);
      fence_async_proxy();
    }
  }

  // Stores the columns that this block of the cluster finishes.
  __device__ __forceinline__ void store_share(const Part& part, const Sums& sums) const {
    constexpr int kBlocks = S::kOutputs / 32;
    if (part.index == 0) {
      store_lse(part, sums);
      store_own_rows<0, kBlocks>(part, sums);
    } else {
      store_own_rows<kBlocks, 2 * kBlocks>(part, sums);
    }
  }

  __device__ __forceinline__ void store_sums(const Part& part, const Sums& sums) const {
    const int thread = static_cast<int>(threadIdx.x);
    const int rows = rows_of(part);
    float4* const to = part_sums(part, part.index);
#pragma unroll
    for (int pair = 0; pair < Sums::kPairs; ++pair) {
#pragma unroll
      for (int square = 0; square < Sums::kSquares; ++square) {
        const Square at = Sums::square_at(pair, square, thread);
        if (at.rows[0] < rows) {
          __stcg(to + (square * Sums::kPairs + pair) * S::kConsumers + thread,
                 sums.elements(pair, square));
          if (square == 0 && Sums::stores_state(thread)) {
            __stcg(to + kSquares + at.pair, sums.state(pair));
          }
        }
      }
    }
  }

  // Adds up the sums of all parts of these rows, which must be stored: item `item` of `items` of
  // the tile's squares. If there are many parts, several lanes have parts of the same squares.
  __device__ __forceinline__ void add_parts(const Part& of_rows, int item, int items) const {
    const int pairs = Sums::squares_of(rows_of(of_rows)) / 2;  // of squares with the same rows
    const int share = items == 1 ? pairs : quotient(pairs + items - 1, work_.tile_items_reciprocal);
    add_squares(of_rows, pairs, item * share, min((item + 1) * share, pairs),
                of_rows.parts > kManyParts ? kLanes : 1);
  }

 private:
  static constexpr int kSquares = Sums::kPairs * Sums::kSquares * S::kConsumers;  // of a tile
  // Parts whose sums a thread loads at the same time.
  static constexpr int kAtOnce = S::kTall || (S::kRows < 32 && S::kBlocksPerSm < 3) ? 8 : 4;
  static constexpr int kManyParts = 8;
  static constexpr int kLanes =
      4 * S::kConsumers > kSquares ? 4 * S::kConsumers / kSquares : 1;  // 4 for the smallest tiles

  // The sums of a part, or of rows if they have just one: squares, [kSquares], then the states of
  // pairs, [rows / 2].
  __device__ __forceinline__ float4* part_sums(const Part& of_rows, int index) const {
    const long long tiles = static_cast<long long>(work_.kv_heads) * work_.row_tiles;
    const long long tile = static_cast<long long>(of_rows.row_tile) * work_.kv_heads + of_rows.head;
    return work_.parts + ((of_rows.first + index) * tiles + tile) * kPartSize;
  }

  __device__ __forceinline__ void store_lse(const Part& part, const Sums& sums) const {
    if (work_.lse == nullptr || !Sums::stores_state(static_cast<int>(threadIdx.x))) {
      return;
    }
    const int rows = rows_of(part);
#pragma unroll
    for (int pair = 0; pair < Sums::kPairs; ++pair) {
      const Square at = Sums::square_at(pair, 0, static_cast<int>(threadIdx.x));
      const float4 state = sums.state(pair);
      if (at.rows[0] < rows) {
        store_lse(row_of(part, at.rows[0]), state.x, state.y);
      }
      if (at.rows[1] < rows) {
        store_lse(row_of(part, at.rows[1]), state.z, state.w);
      }
    }
  }

  // Stores the rows that a tall consumer's threads have, 16 bytes at a time: of their columns, some
  // blocks of 16.
  template <int kFirst = 0, int kEnd = S::kOutputs / 16>
  __device__ __forceinline__ void store_own_rows(const Part& part, const Sums& sums) const {
    const Square at = Sums::square_at(0, 0, static_cast<int>(threadIdx.x));
    const float4 state = sums.state(0);
    const float factors[2] = {inverse_or_zero(state.y), inverse_or_zero(state.w)};
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const bool is_there = at.rows[h] < rows_of(part);
      uint4* const to =
          reinterpret_cast<uint4*>(row_of(part, at.rows[h]).o + Sums::first_column()) +
          threadIdx.x % 4;
#pragma unroll
      for (int block = kFirst; block < kEnd; ++block) {
        const uint4 columns = sums.eight_columns(h, block, factors[h]);
        if (is_there) {
          to[4 * block] = columns;
        }
      }
    }
  }

  // Copies the rows of the tile, 16 bytes of a thread at a time.
  __device__ __forceinline__ void copy_rows(const Part& part, unsigned tile) const {
    constexpr int kChunks = S::kHeadDim / 8;  // of a row
    const int rows = rows_of(part);
#pragma unroll 2
    for (int at = static_cast<int>(threadIdx.x); at < S::kRows * kChunks; at += S::kConsumers) {
      const int row = at / kChunks;
      const int chunk = at % kChunks;
      if (row < rows) {
        const unsigned from = tile + chunk / 8 * SmemPlan<S>::kPanelBytesQ + row * 128;
        *reinterpret_cast<uint4*>(row_of(part, row).o + 8 * chunk) =
            ld_shared_16(from + 16 * (chunk % 8 ^ row % 8));
      }
    }
  }

  // Squares `first` to `end`, and those `half` behind them; lanes: that share the parts of a
  // square, a power of two
  __device__ __forceinline__ void add_squares(const Part& of_rows, int half, int first, int end,
                                              int lanes) const {
    const int across = 32 / lanes;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int rows = rows_of(of_rows);
#pragma unroll 1
    for (int at = first + warp_uniform(static_cast<int>(threadIdx.x) / 32) * across; at < end;
         at += S::kConsumerWarps * across) {
      const int number = min(at + lane % across, end - 1);
      const int indices[2] = {Sums::index_of(number, rows), Sums::index_of(number + half, rows)};
      const Square square = square_of(indices[0]);
      const bool is_there = at + lane % across < end && square.rows[0] < rows;
      PartialSums sums = sum_of_parts(of_rows, indices, square.pair, lane / across, lanes,
                                      is_there ? of_rows.parts : 0);
#pragma unroll 1
      for (int distance = across; distance < 32; distance *= 2) {
        PartialSums other = exchanged(sums, distance);
        const float raised[2] = {fmaxf(sums.state.x, other.state.x),
                                 fmaxf(sums.state.z, other.state.z)};
        other.raise(raised[0], raised[1], scale_log2_);
        sums.raise(raised[0], raised[1], scale_log2_);
        sums.add(other);
      }
      if (is_there && lane < across) {
        store_squares(of_rows, rows, square, square_of(indices[1]), sums);
      }
    }
  }

  __device__ __forceinline__ static Square square_of(int index) {
    const int of_thread = index / S::kConsumers;
    return Sums::square_at(of_thread % Sums::kPairs, of_thread / Sums::kPairs,
                           index % S::kConsumers);
  }

  // Adds up two squares of the parts first, first + every, and so on before `end`. The loop has the
  // same length in all lanes: after one that has not, wgmma's operands are no longer kept in
  // uniform registers, elsewhere in the kernel too.
  __device__ __forceinline__ PartialSums sum_of_parts(const Part& of_rows, const int (&squares)[2],
                                                      int pair, int first, int every,
                                                      int end) const {
    const long long between =
        static_cast<long long>(work_.kv_heads) * work_.row_tiles * kPartSize * every;
    const float4* sums = part_sums(of_rows, first);
    PartialSums all = PartialSums::none();
#pragma unroll 1
    for (int begin = 0; begin < of_rows.parts; begin += kAtOnce * every) {
      const int part = begin + first;
      PartialSums loaded[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const bool is_there = part + i * every < end;
        loaded[i] = {load_if(is_there, sums + (kSquares + pair), negative_infinity()),
                     {load_if(is_there, sums + squares[0], 0.0f),
                      load_if(is_there, sums + squares[1], 0.0f)}};
        sums += between;
      }
      float raised[2] = {all.state.x, all.state.z};
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        raised[0] = fmaxf(raised[0], loaded[i].state.x);
        raised[1] = fmaxf(raised[1], loaded[i].state.z);
      }
      all.raise(raised[0], raised[1], scale_log2_);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        loaded[i].raise(raised[0], raised[1], scale_log2_);
        all.add(loaded[i]);
      }
    }
    return all;
  }

  // Returns the four numbers, or if they are not there {otherwise, 0, otherwise, 0}. The predicate
  // is of the load alone: with one of the addresses too, they would take registers from the whole
  // kernel.
  __device__ __forceinline__ static float4 load_if(bool is_there, const float4* from,
                                                   float otherwise) {
    float4 v{otherwise, 0.0f, otherwise, 0.0f};
    asm volatile(
        "{\n\t.reg .pred there;\n\tsetp.ne.u32 there, %5, 0;\n\t"
        "@there ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];\n\t}"
        : "+f"(v.x), "+f"(v.y), "+f"(v.z), "+f"(v.w)
        : "l"(from), "r"(static_cast<unsigned>(is_there))
        : "memory");
    return v;
  }

  __device__ __forceinline__ static PartialSums exchanged(const PartialSums& own, int distance) {
    const auto from = [distance](float x) { return __shfl_xor_sync(0xffffffffu, x, distance); };
    return {{from(own.state.x), from(own.state.y), from(own.state.z), from(own.state.w)},
            {{from(own.o[0].x), from(own.o[0].y), from(own.o[0].z), from(own.o[0].w)},
             {from(own.o[1].x), from(own.o[1].y), from(own.o[1].z), from(own.o[1].w)}}};
  }

  // Rows of the part's tile that are rows of Q.
  __device__ __forceinline__ int rows_of(const Part& part) const {
    return min(work_.tile_rows, work_.seq_len * work_.group - part.row_tile * work_.tile_rows);
  }

  // A row of O, and its log-sum-exp, if it is wanted.
  struct Row {
    unsigned short* o;
    float* lse;
  };
  __device__ __forceinline__ Row row_of(const Part& part, int row) const {
    const int packed = part.row_tile * work_.tile_rows + row;
    const int query = query_of(work_, packed);
    const int head = part.head * work_.group + packed - query * work_.group;
    const long long heads = static_cast<long long>(work_.kv_heads) * work_.group;
    return {work_.o + part.batch * work_.o_batch_stride +
                static_cast<long long>(query) * work_.o_row_stride +
                static_cast<long long>(head) * work_.o_head_stride,
            work_.lse + (part.batch * heads + head) * work_.seq_len + query};
  }

  __device__ __forceinline__ void store_lse(const Row& row, float reference, float sum) const {
    constexpr float kLn2 = 0.693147180559945309417f;
    if (work_.lse != nullptr) {
      *row.lse = fmaf(reference, scale_log2_, lg2_approx_ftz(sum)) * kLn2;
    }
  }

  __device__ __forceinline__ void store_squares(const Part& part, int rows, const Square& first,
                                                const Square& second,
                                                const PartialSums& sums) const {
    const float4& a = sums.o[0];
    const float4& b = sums.o[1];
    const Row row = row_of(part, first.rows[0]);
    const float factor = inverse_or_zero(sums.state.y);
    store_elements(row.o, first.columns, a.x * factor, a.y * factor);
    store_elements(row.o, second.columns, b.x * factor, b.y * factor);
    if (first.columns[0] == 0) {
      store_lse(row, sums.state.x, sums.state.y);
    }
    if (first.rows[1] < rows) {
      const Row next = row_of(part, first.rows[1]);
      const float next_factor = inverse_or_zero(sums.state.w);
      store_elements(next.o, first.columns, a.z * next_factor, a.w * next_factor);
      store_elements(next.o, second.columns, b.z * next_factor, b.w * next_factor);
      if (first.columns[0] == 0) {
        store_lse(next, sums.state.z, sums.state.w);
      }
    }
  }

  __device__ __forceinline__ static void store_elements(unsigned short* row,
                                                        const int (&columns)[2], float x, float y) {
    if constexpr (Sums::kAdjacent) {
      *reinterpret_cast<unsigned*>(row + columns[0]) = cvt_rn_x2<S::kIsBf16>(x, y);
    } else {
      row[columns[0]] = cvt_rn<S::kIsBf16>(x);
      row[columns[1]] = cvt_rn<S::kIsBf16>(y);
    }
  }

  static constexpr int kPartSize = kSquares + S::kRows / 2;

  const Work& work_;
  const float scale_log2_;
};

#endif
