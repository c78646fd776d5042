// Attention forward for comparison: plain fp32 arithmetic, no tensor cores, selected rows only.
//
// Two passes over the keys: the first finds each row's greatest score and sum, the second computes
// the probabilities, already normalised, and O += P V. Scores are computed twice rather than kept:
// at 16384 x 16384 they would take a GiB. Both references share the products q.k:
//
//   exact:   s = scale * q.k              p = exp(s - max) / sum                O = sum p v
//   rounded: s = round(scale * q.k)       p = round(exp(s - max) / sum)         O = round(sum p v)
//
// With a softcap, s then becomes softcap * tanh(s / softcap), which is rounded too. A sink counts
// in max and sum.
//
// The roundings are those of a framework that runs the three operations one by one on 16-bit
// tensors with fp32 accumulation.
//
// Where keys of 8 bits, or pages of them, have scales of their own, p is rounded a second time:
//
//   rounded: p = round(p * m) / m, where m is the significand of the key's scale of V, 1 <= m < 2
//
// Every 16-bit implementation has one more rounding there: a framework's is of V times its scale, a
// kernel's of p times the scale. The scale's power of two changes neither, within the range of the
// element type.
//
// Where Q has 8 bits as well, the roundings are those of a kernel that multiplies 8-bit elements:
//
//   rounded: s = scale * q.k       p = e4m3(256 exp(s - max)) / 256 / sum       O = bf16(sum p v)
//
// where sum is that of exp(s - max), not rounded. There max is of the keys alone, and a sink counts
// in sum.
#ifndef FATUNE_KERNELS_REFERENCE_REFERENCE_ATTENTION_CUH
#define FATUNE_KERNELS_REFERENCE_REFERENCE_ATTENTION_CUH

#include "common/ptx_math.cuh"
#include "reference/element.cuh"
#include "reference/measurement_args.h"
#include "reference/probability_units.h"
#include "reference/random_inputs.cuh"
#include "reference/reference_tile.h"

inline constexpr int kThreads = kReferenceThreads;
inline constexpr int kRows = reference_rows(kHeadDim, kHeadDimV);
inline constexpr int kKeys = kReferenceKeys;
inline constexpr int kLanesPerRow = kReferenceLanesPerRow;
inline constexpr int kRowsPerThread = kRows * kLanesPerRow / kThreads;
inline constexpr int kKeysPerThread = kKeys / kLanesPerRow;
inline constexpr int kQueryStride = reference_row_stride(kHeadDim);
inline constexpr int kTileStride = reference_row_stride(reference_max(kHeadDim, kHeadDimV));
inline constexpr int kPaddedHeadDimV = reference_row_stride(kHeadDimV) - 4;
inline constexpr int kDimGroups = kPaddedHeadDimV / (4 * kLanesPerRow);
inline constexpr int kProbStride = kReferenceProbStride;

struct ReferenceShared {
  float q[kRows][kQueryStride];
  float kv[kKeys][kTileStride];
  float exact[kRows][kProbStride];  // probabilities of one tile
  float rounded[kRows][kProbStride];
  int rows[kRows];  // of Q
  int first_seen[kRows];
  int end_seen[kRows];
};
static_assert(sizeof(ReferenceShared) == reference_shared_bytes(kHeadDim, kHeadDimV));

// Greatest score and sum of exp(score - greatest) over the keys seen so far.
struct RowState {
  float greatest = negative_infinity();
  float sum = 0.0f;

  __device__ __forceinline__ void add(float score) {
    if (score > greatest) {
      sum = sum * expf(greatest - score) + 1.0f;
      greatest = score;
    } else if (score != negative_infinity()) {
      sum += expf(score - greatest);
    }
  }

  __device__ __forceinline__ void merge(float other_greatest, float other_sum) {
    const float both = fmaxf(greatest, other_greatest);
    if (both == negative_infinity()) {
      return;
    }
    sum = sum * expf(greatest - both) + other_sum * expf(other_greatest - both);
    greatest = both;
  }

  // Makes the lanes of a row agree. threads: whole warps, converged
  __device__ __forceinline__ void merge_lanes() {
#pragma unroll
    for (int distance = 1; distance < kLanesPerRow; distance *= 2) {
      const float other_greatest = __shfl_xor_sync(0xffffffffu, greatest, distance);
      const float other_sum = __shfl_xor_sync(0xffffffffu, sum, distance);
      merge(other_greatest, other_sum);
    }
  }

  // 0 in a row that sees no key.
  __device__ __forceinline__ float probability(float score) const {
    return sum > 0.0f ? expf(score - greatest) / sum : 0.0f;
  }

#if FATUNE_EIGHT_BIT_QUERIES != 0
  // Begins the sum of rounded exponentials.
  __device__ __forceinline__ void begin_eight_bits() {
    constexpr float kLog2e = kLog2OfE;
    greatest = ceilf(greatest * kLog2e) / kLog2e;
    sum = 0.0f;
  }
  // The exponential, rounded to an e4m3, which is added to the sum. score: minus infinity if masked
  __device__ __forceinline__ float add_eight_bits(float score) {
    if (score == negative_infinity()) {
      return 0.0f;
    }
    const unsigned short bits = round_eight_bits(kProbabilityUnits * expf(score - greatest), 0.0f);
    const float exponential = eight_bit_values(bits).x / kProbabilityUnits;
    sum += exponential;
    return exponential;
  }
  // Ends the sum, which becomes infinity where a sink far outweighs the keys. sink: minus infinity
  // if there is none. Returns what O is multiplied by: 0 in a row that sees no key.
  // threads: whole warps, converged
  __device__ __forceinline__ float end_eight_bits(float sink) {
#pragma unroll
    for (int distance = 1; distance < kLanesPerRow; distance *= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    return sum > 0.0f ? 1.0f / (sum + expf(sink - greatest)) : 0.0f;
  }
#endif
};

__device__ __forceinline__ float rounded_value(float value) {
  return element_value(round_element(value));
}

__device__ __forceinline__ float dot(float4 a, float4 b, float sum) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

__device__ __forceinline__ float4 load_four(const float* address) {
  return *reinterpret_cast<const float4*>(address);
}

// Four 16-bit elements, two in each word, as fp32.
__device__ __forceinline__ void store_four(float* address, unsigned low, unsigned high) {
  *reinterpret_cast<float4*>(address) =
      make_float4(element_value(static_cast<Element>(low & 0xffffu)),
                  element_value(static_cast<Element>(low >> 16)),
                  element_value(static_cast<Element>(high & 0xffffu)),
                  element_value(static_cast<Element>(high >> 16)));
}

// Converts rows of 16-bit elements to fp32 in shared memory; rows that do not exist and the padding
// of existing ones become 0.
// shape:   row_address(row) gives the row's first element of kColumns, or null
// threads: the block; sync: none
template <int kColumns, int kTileRows, int kStride, typename RowAddress>
__device__ __forceinline__ void load_rows(float (&tile)[kTileRows][kStride],
                                          RowAddress row_address) {
  constexpr int kChunks = (reference_row_stride(kColumns) - 4) / 8;  // chunks of 8 elements
  for (int i = threadIdx.x; i < kTileRows * kChunks; i += kThreads) {
    const int row = i / kChunks;
    const int dim = i % kChunks * 8;
    const Element* const from = row_address(row);
    const bool exists = from != nullptr && dim < kColumns;
    const uint4 bits =
        exists ? *reinterpret_cast<const uint4*>(from + dim) : make_uint4(0, 0, 0, 0);
    store_four(&tile[row][dim], bits.x, bits.y);
    store_four(&tile[row][dim + 4], bits.z, bits.w);
  }
}

// As load_rows(), of what gives four numbers at once.
// shape:   row_values(row, column): of a row that exists(row)
template <int kColumns, int kTileRows, int kStride, typename RowValues, typename Exists>
__device__ __forceinline__ void fill_rows(float (&tile)[kTileRows][kStride], RowValues row_values,
                                          Exists exists) {
  constexpr int kFours = (reference_row_stride(kColumns) - 4) / 4;
  for (int i = threadIdx.x; i < kTileRows * kFours; i += kThreads) {
    const int row = i / kFours;
    const int column = i % kFours * 4;
    *reinterpret_cast<float4*>(&tile[row][column]) = exists(row) && column < kColumns
                                                         ? row_values(row, column)
                                                         : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
}

#if FATUNE_KV_DTYPE != 0
// As load_rows(), of rows of 8-bit elements, which are multiplied by their row's scale.
// shape:   row_scale(row): of a row that exists
template <int kColumns, int kTileRows, int kStride, typename RowAddress, typename RowScale>
__device__ __forceinline__ void load_scaled_rows(float (&tile)[kTileRows][kStride],
                                                 RowAddress row_address, RowScale row_scale) {
  const auto values = [&](int row, int column) {
    const unsigned bits = *reinterpret_cast<const unsigned*>(row_address(row) + column);
    const float scale = row_scale(row);
    const float2 low = eight_bit_values(bits & 0xffffu);
    const float2 high = eight_bit_values(bits >> 16);
    return make_float4(low.x * scale, low.y * scale, high.x * scale, high.y * scale);
  };
  fill_rows<kColumns>(tile, values, [&](int row) { return row_address(row) != nullptr; });
}
#endif

// What one thread works on: rows first_row + i, keys lane + kLanesPerRow * j of each tile,
// dimensions 4 * lane + 4 * kLanesPerRow * g + (0..3).
struct Reference {
  const ReferenceArgs& args;
  const FillInputsArgs* const unrounded;  // how Q, K and V were made; null: they are loaded
  ReferenceShared& shared;
  const int lane;
  const int first_row;
  long long batch_head;
  int keys;       // of this block's sequence, or rows of K where sequences are packed
  int selected;   // rows of this block that exist
  int first_key;  // first key of the first tile that any of its rows sees
  int end_key;    // end of the keys that any of its rows sees

  __device__ __forceinline__ Reference(const ReferenceArgs& a, ReferenceShared& s,
                                       const FillInputsArgs* u = nullptr)
      : args(a),
        unrounded(u),
        shared(s),
        lane(threadIdx.x % kLanesPerRow),
        first_row(threadIdx.x / kLanesPerRow * kRowsPerThread) {
    batch_head = static_cast<long long>(blockIdx.z) * args.q.heads + blockIdx.y;
    keys = args.packed.keys != nullptr ? args.k.rows : keys_of(args, static_cast<int>(blockIdx.z));
    selected = min(kRows, args.selection.rows_per_head - static_cast<int>(blockIdx.x) * kRows);
  }

  // Returns the index of a block's row among all selected rows.
  __device__ __forceinline__ long long selection_index(int row) const {
    return batch_head * args.selection.rows_per_head + blockIdx.x * kRows + row;
  }

  // The row of this block's head.
  __device__ __forceinline__ const QueryElement* query_address(int position) const {
    return static_cast<const QueryElement*>(args.q.data) +
           row_offset(args.q, blockIdx.z, position, blockIdx.y);
  }
  // The head of K and V that it shares.
  __device__ __forceinline__ int key_head() const {
    return static_cast<int>(blockIdx.y) / (args.q.heads / args.k.heads);
  }
  // The row of this head of K or V.
  __device__ __forceinline__ const KeyElement* key_address(const TensorView& tensor,
                                                           int key) const {
    return static_cast<const KeyElement*>(tensor.data) +
           key_offset(args, tensor, blockIdx.z, key, key_head());
  }

  // Finds which rows of K a row of Q sees, from shared.first_seen to before shared.end_seen.
  // shape: slot: among this block's rows
  __device__ __forceinline__ void find_seen(int slot) {
    int row = shared.rows[slot];
    int first = 0;
    int sequence = static_cast<int>(blockIdx.z);
    if (args.packed.queries != nullptr) {
      sequence = sequence_at(args.packed.queries, args.packed.sequences, row);
      row -= args.packed.queries[sequence];
      first = args.packed.keys[sequence];
    }
    const int own_keys = keys_of(args, sequence);
    const int position = row + own_keys - queries_of(args, sequence);
    const int end = args.causal != 0  ? position + 1
                    : args.window > 0 ? position + args.window
                                      : own_keys;
    const auto clamped = [&](int key) { return first + max(0, min(key, own_keys)); };
    shared.first_seen[slot] = args.window > 0 ? clamped(position - args.window + 1) : first;
    shared.end_seen[slot] = clamped(end);
  }

  // Whether a row of K belongs to a sequence without queries, and has no values. Its scores are
  // masked, but a probability of 0 times what is no number would not be 0.
  __device__ __forceinline__ bool is_unfilled(int row) const {
    return args.packed.keys != nullptr &&
           queries_of(args, sequence_at(args.packed.keys, args.packed.sequences, row)) == 0;
  }

  // Whether a row of K and V exists and has values.
  __device__ __forceinline__ bool is_filled(int row) const {
    return row < keys && !is_unfilled(row);
  }

  // The factor of a rounded probability at its second rounding; 1: there is none.
  // shape: row: of V; it need not exist
  __device__ __forceinline__ float value_significand(int row) const {
    return keys_have_scales(args.scales, args.scales.v) && is_filled(row)
               ? significand_of(key_scale(args, args.scales.v, blockIdx.z, row, key_head()))
               : 1.0f;
  }
  // A probability as V is multiplied by it in the rounded reference, or of 8 bits its exponential.
  // shape: score: rounded_score(); significand: value_significand() of its key
  __device__ __forceinline__ float rounded_probability(RowState& row, float score,
                                                       float significand) const {
#if FATUNE_EIGHT_BIT_QUERIES != 0
    return row.add_eight_bits(score);
#else
    const float once = rounded_value(row.probability(score));
    return kHasEightBits ? rounded_value(once * significand) / significand : once;
#endif
  }

  // The score as both references have it. score: scaled, or minus infinity
  __device__ __forceinline__ float capped(float score) const {
    const bool is_capped = args.softcap > 0.0f && score != negative_infinity();
    return is_capped ? args.softcap * tanhf(score / args.softcap) : score;
  }
  __device__ __forceinline__ float rounded_score(float score) const {
    if constexpr (kHasEightBitQueries) {
      return capped(score);
    }
    const float once = rounded_value(score);
    return args.softcap > 0.0f ? rounded_value(capped(once)) : once;
  }

  // Fills shared.q with the elements of shared.rows. threads: the block; sync: none
  __device__ __forceinline__ void load_query_rows() {
    const auto address = [this](int row) { return query_address(shared.rows[row]); };
#if FATUNE_EIGHT_BIT_QUERIES != 0
    load_scaled_rows<kHeadDim>(shared.q, address, [this](int row) {
      return query_scale(args, blockIdx.z, shared.rows[row], blockIdx.y);
    });
#else
    load_rows<kHeadDim>(shared.q, address);
#endif
  }
  // The same of unrounded inputs.
  __device__ __forceinline__ void make_query_rows() {
    const auto values = [this](int row, int column) {
      return input_values(*unrounded, kQuery, blockIdx.z, shared.rows[row], blockIdx.y, column);
    };
    fill_rows<kHeadDim>(shared.q, values, [](int) { return true; });
  }

  // threads: the block; sync: out: a CTA barrier
  __device__ __forceinline__ void load_queries() {
    if (threadIdx.x < kRows) {
      // Missing rows repeat the last one; their results are not stored.
      const int row = min(static_cast<int>(threadIdx.x), selected - 1);
      shared.rows[threadIdx.x] = args.selection.rows[selection_index(row)];
      find_seen(static_cast<int>(threadIdx.x));
    }
    __syncthreads();
    if (kHasEightBits && unrounded != nullptr) {
      make_query_rows();
    } else {
      load_query_rows();
    }
    first_key = shared.first_seen[0] / kKeys * kKeys;
    end_key = shared.end_seen[selected - 1];
    __syncthreads();
  }

  // threads: the block; sync: a CTA barrier before (the last tile has been read) and after
  template <int kColumns>
  __device__ __forceinline__ void load_tile(const TensorView& tensor, int first) {
    __syncthreads();
    if (kHasEightBits && unrounded != nullptr) {
      make_key_rows<kColumns>(&tensor == &args.k ? kKey : kValue, first);
    } else {
      load_key_rows<kColumns>(tensor, first);
    }
    __syncthreads();
  }

  // Fills shared.kv with rows of K or V. threads: the block; sync: none
  template <int kColumns>
  __device__ __forceinline__ void load_key_rows(const TensorView& tensor, int first) {
    const auto address = [&](int row) -> const KeyElement* {
      return is_filled(first + row) ? key_address(tensor, first + row) : nullptr;
    };
#if FATUNE_KV_DTYPE != 0
    const TensorView& scales = &tensor == &args.k ? args.scales.k : args.scales.v;
    load_scaled_rows<kColumns>(shared.kv, address, [&](int row) {
      return key_scale(args, scales, blockIdx.z, first + row, key_head());
    });
#else
    load_rows<kColumns>(shared.kv, address);
#endif
  }
  // The same of unrounded inputs.
  template <int kColumns>
  __device__ __forceinline__ void make_key_rows(RandomStream tensor, int first) {
    const auto values = [&](int row, int column) {
      return input_values(*unrounded, tensor, blockIdx.z, first + row, key_head(), column);
    };
    fill_rows<kColumns>(shared.kv, values, [&](int row) { return is_filled(first + row); });
  }

  // scale * q.k of this thread's rows and keys of the tile in shared.kv; minus infinity where
  // masked or past the end.
  __device__ __forceinline__ void scores(float (&s)[kRowsPerThread][kKeysPerThread],
                                         int first) const {
#pragma unroll
    for (int i = 0; i < kRowsPerThread; ++i) {
#pragma unroll
      for (int j = 0; j < kKeysPerThread; ++j) {
        s[i][j] = 0.0f;
      }
    }
#pragma unroll 4
    for (int dim = 0; dim < kHeadDim; dim += 4) {
      float4 k[kKeysPerThread];
#pragma unroll
      for (int j = 0; j < kKeysPerThread; ++j) {
        k[j] = load_four(&shared.kv[lane + kLanesPerRow * j][dim]);
      }
#pragma unroll
      for (int i = 0; i < kRowsPerThread; ++i) {
        const float4 q = load_four(&shared.q[first_row + i][dim]);
#pragma unroll
        for (int j = 0; j < kKeysPerThread; ++j) {
          s[i][j] = dot(q, k[j], s[i][j]);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kRowsPerThread; ++i) {
      const int begin = shared.first_seen[first_row + i];
      const int end = shared.end_seen[first_row + i];
#pragma unroll
      for (int j = 0; j < kKeysPerThread; ++j) {
        const int key = first + lane + kLanesPerRow * j;
        const bool seen = key >= begin && key < end;
        s[i][j] = seen ? s[i][j] * args.softmax_scale : negative_infinity();
      }
    }
  }

  // Pass 1.
  __device__ __forceinline__ void find_states(RowState (&exact)[kRowsPerThread],
                                              RowState (&rounded)[kRowsPerThread]) {
#pragma unroll 1
    for (int first = first_key; first < end_key; first += kKeys) {
      load_tile<kHeadDim>(args.k, first);
      float s[kRowsPerThread][kKeysPerThread];
      scores(s, first);
#pragma unroll
      for (int i = 0; i < kRowsPerThread; ++i) {
#pragma unroll
        for (int j = 0; j < kKeysPerThread; ++j) {
          exact[i].add(capped(s[i][j]));
          rounded[i].add(rounded_score(s[i][j]));
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kRowsPerThread; ++i) {
      exact[i].merge_lanes();
      rounded[i].merge_lanes();
      if (args.sinks != nullptr) {
        exact[i].merge(args.sinks[blockIdx.y], 1.0f);
        if constexpr (!kHasEightBitQueries) {
          rounded[i].merge(args.sinks[blockIdx.y], 1.0f);
        }
      }
#if FATUNE_EIGHT_BIT_QUERIES != 0
      rounded[i].begin_eight_bits();
#endif
    }
  }

  // Stores the probabilities of the tile in shared.kv, as V is multiplied by them. sync: none
  __device__ __forceinline__ void store_probabilities(const RowState (&exact)[kRowsPerThread],
                                                      RowState (&rounded)[kRowsPerThread],
                                                      int first) const {
    float s[kRowsPerThread][kKeysPerThread];
    scores(s, first);
#pragma unroll
    for (int j = 0; j < kKeysPerThread; ++j) {
      const int key = lane + kLanesPerRow * j;
      const float significand = value_significand(first + key);
#pragma unroll
      for (int i = 0; i < kRowsPerThread; ++i) {
        shared.exact[first_row + i][key] = exact[i].probability(capped(s[i][j]));
        shared.rounded[first_row + i][key] =
            rounded_probability(rounded[i], rounded_score(s[i][j]), significand);
      }
    }
  }
};

// Accumulates this thread's part of both outputs.
struct ReferenceOutput {
  float4 exact[kRowsPerThread][kDimGroups];
  float4 rounded[kRowsPerThread][kDimGroups];

  __device__ __forceinline__ ReferenceOutput() {
#pragma unroll
    for (int i = 0; i < kRowsPerThread; ++i) {
#pragma unroll
      for (int g = 0; g < kDimGroups; ++g) {
        exact[i][g] = rounded[i][g] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      }
    }
  }

  static __device__ __forceinline__ void add_scaled(float4& sum, float factor, float4 v) {
    sum = make_float4(fmaf(factor, v.x, sum.x), fmaf(factor, v.y, sum.y), fmaf(factor, v.z, sum.z),
                      fmaf(factor, v.w, sum.w));
  }

  // O += P V for the tile of V in shared.kv.
  __device__ __forceinline__ void accumulate(const Reference& block) {
#pragma unroll 4
    for (int key = 0; key < kKeys; ++key) {
#pragma unroll
      for (int g = 0; g < kDimGroups; ++g) {
        const float4 v = load_four(&block.shared.kv[key][4 * (block.lane + kLanesPerRow * g)]);
#pragma unroll
        for (int i = 0; i < kRowsPerThread; ++i) {
          add_scaled(exact[i][g], block.shared.exact[block.first_row + i][key], v);
          add_scaled(rounded[i][g], block.shared.rounded[block.first_row + i][key], v);
        }
      }
    }
  }

  // Divides rounded O by its sums, where P was no probabilities but exponentials.
  __device__ __forceinline__ void end_eight_bits(const Reference& block,
                                                 RowState (&rows)[kRowsPerThread]) {
#if FATUNE_EIGHT_BIT_QUERIES != 0
    const float* const sinks = block.args.sinks;
    const float sink = sinks != nullptr ? sinks[blockIdx.y] : negative_infinity();
#pragma unroll
    for (int i = 0; i < kRowsPerThread; ++i) {
      const float factor = rows[i].end_eight_bits(sink);
#pragma unroll
      for (int g = 0; g < kDimGroups; ++g) {
        const float4 o = rounded[i][g];
        rounded[i][g] = make_float4(o.x * factor, o.y * factor, o.z * factor, o.w * factor);
      }
    }
#endif
  }

  __device__ __forceinline__ void store(const Reference& block) const {
#pragma unroll
    for (int i = 0; i < kRowsPerThread; ++i) {
#pragma unroll
      for (int g = 0; g < kDimGroups; ++g) {
        const int dim = 4 * (block.lane + kLanesPerRow * g);
        if (block.first_row + i < block.selected && dim < kHeadDimV) {
          const long long at = block.selection_index(block.first_row + i) * kHeadDimV + dim;
          const float4 o = rounded[i][g];
          *reinterpret_cast<float4*>(block.args.exact + at) = exact[i][g];
          *reinterpret_cast<ushort4*>(static_cast<Element*>(block.args.rounded) + at) =
              make_ushort4(round_element(o.x), round_element(o.y), round_element(o.z),
                           round_element(o.w));
        }
      }
    }
  }
};

// unrounded: as in Reference; memory: sizeof(ReferenceShared)
__device__ __forceinline__ void compute_references(const ReferenceArgs& args,
                                                   const FillInputsArgs* unrounded,
                                                   unsigned char* memory) {
  Reference block(args, *reinterpret_cast<ReferenceShared*>(memory), unrounded);
  block.load_queries();
  RowState exact[kRowsPerThread], rounded[kRowsPerThread];
  block.find_states(exact, rounded);
  ReferenceOutput output;
#pragma unroll 1
  for (int first = block.first_key; first < block.end_key; first += kKeys) {
    block.load_tile<kHeadDim>(args.k, first);
    block.store_probabilities(exact, rounded, first);
    block.load_tile<kHeadDimV>(args.v, first);  // its barriers also publish the probabilities
    output.accumulate(block);
  }
  output.end_eight_bits(block, rounded);
  output.store(block);
}

// Both references of the selected rows.
// shape:   grid (ceil(rows_per_head / kRows), heads, batch); block 256; dynamic shared memory
//          sizeof(ReferenceShared)
extern "C" __global__ void __launch_bounds__(kThreads)
    fatune_reference_attention(const __grid_constant__ ReferenceArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  compute_references(args, nullptr, memory);
}

#endif
