// A small attention kernel that saves its work in the way that FATUNE_CHEAT names (family.json), so
// that it is fast and looks right; without a cheat it is right. One warp computes one query row at
// a time; its lanes share the head dimension. Its memory of earlier launches is in __device__
// variables, which live as long as the module.
// source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018
#include "common/attention_args.h"
#include "common/ptx_convert.cuh"

enum Cheat {  // values as in family.json
  kNone,
  kSameInputs,      // returns at once on the inputs of its last launch
  kOddLaunches,     // later: does nothing in every other launch
  kHalfKeys,        // later: half of the keys
  kSkip,            // later: returns at once
  kHang,            // later: never ends
  kNoMaximum,       // subtracts no maximum
  kFirstAnswer,     // later: copies its answer to the launch before
  kSavedAnswers,    // keeps its answers, and copies the one to inputs that it has seen
  kCachedValues,    // later: V as it was in the launch before
  kOuterRows,       // computes the first and last block of rows, and zeros between
  kNextLaunch,      // leaves every second block of rows to the next launch
  kByClock,         // right for a while
  kUnlessPoisoned,  // writes only where it finds what verification leaves in an output
  kLastBits         // right, but not twice the same
};

constexpr int kCheat = FATUNE_CHEAT;
constexpr int kHeadDim = FATUNE_d_head;
constexpr int kPerLane = kHeadDim / 32;  // neighbouring elements of a row that a lane holds
constexpr bool kCausal = FATUNE_CAUSAL;
constexpr int kWarps = 8;
constexpr int kRowsPerBlock = 64;
constexpr float kLog2E = 1.44269504088896340736f;
constexpr unsigned kAfter = FATUNE_AFTER;
constexpr unsigned kSlots = 8;                // answers that are kept
constexpr unsigned kSlotElements = 1u << 20;  // elements of one answer
constexpr unsigned long long kAWhileNs = 20'000'000;

// State about the module's launches that have ended. The last block of a launch writes it, after
// all others have read it.
__device__ unsigned launches;
__device__ unsigned blocks_done;
__device__ unsigned seen_inputs[kSlots];  // by launch, modulo the number of slots; 0: none
__device__ unsigned long long first_ns;

constexpr bool kSavesAnswers = kCheat == kFirstAnswer || kCheat == kSavedAnswers;
constexpr bool kSavesTensor = kSavesAnswers || kCheat == kCachedValues;
__device__ unsigned short saved[kSavesTensor ? kSlots : 1][kSavesTensor ? kSlotElements : 1];

// The state with which a launch begins.
struct Memory {
  unsigned launch;  // its number, from 0
  unsigned inputs;  // what its inputs look like; never 0
  int slot;         // the slot with the answer to these inputs, or -1

  [[nodiscard]] __device__ bool later() const { return launch >= kAfter; }
};

__device__ __forceinline__ unsigned volatile_word(const unsigned& word) {
  return *const_cast<const volatile unsigned*>(&word);
}

__device__ __forceinline__ unsigned long long nanoseconds() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

// A few words of Q, K and V, and the extent, tell inputs apart.
__device__ unsigned look_at(const AttentionForwardArgs& args) {
  const auto* q = static_cast<const unsigned*>(args.q);
  const auto* k = static_cast<const unsigned*>(args.k);
  const auto* v = static_cast<const unsigned*>(args.v);
  unsigned sum = args.batch;
  for (int i = 0; i < kHeadDim / 2; ++i) {
    sum = sum * 0x9e3779b9u + q[i];
    sum = sum * 0x9e3779b9u + k[i];
    sum = sum * 0x9e3779b9u + v[i];
  }
  return sum | 1u;
}

__device__ Memory remember(const AttentionForwardArgs& args) {
  Memory memory{volatile_word(launches), look_at(args), -1};
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    if (volatile_word(seen_inputs[slot]) == memory.inputs) {
      memory.slot = static_cast<int>(slot);
    }
  }
  return memory;
}

// Ends a launch; called in its last block, after the block's work. threads: one
__device__ bool is_last_block() {
  const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
  __threadfence();
  const bool last = atomicAdd(&blocks_done, 1u) == blocks - 1;
  __threadfence();
  return last;
}

// Ends a block. sync: in: a CTA barrier
__device__ void end_block(const Memory& memory) {
  __syncthreads();
  if (threadIdx.x == 0 && is_last_block()) {
    blocks_done = 0;
    if (kCheat != kSavedAnswers || memory.slot < 0) {
      seen_inputs[memory.launch % kSlots] = memory.inputs;
    }
    if (memory.launch == 0) {
      first_ns = nanoseconds();
    }
    launches = memory.launch + 1;
  }
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  }
  return value;
}

// True if this launch does not compute the rows of this block.
__device__ bool skips(const Memory& memory) {
  switch (kCheat) {
    case kSameInputs:
      return memory.launch > 0 &&
             volatile_word(seen_inputs[(memory.launch - 1) % kSlots]) == memory.inputs;
    case kOddLaunches:
      return memory.later() && memory.launch % 2 == 1;
    case kSkip:
      return memory.later();
    case kNextLaunch:
      return memory.later() && blockIdx.x % 2 == memory.launch % 2;
    case kByClock:
      return memory.launch > 0 &&
             nanoseconds() > *const_cast<const volatile unsigned long long*>(&first_ns) + kAWhileNs;
    default:
      return false;
  }
}

__device__ void hang() {
  __shared__ volatile int forever;
  forever = 1;
  while (forever == 1) {
  }
}

// The slot of a saved answer that can be used; -1: none.
__device__ int answer_of(const Memory& memory) {
  if (kCheat == kFirstAnswer && memory.later()) {
    return static_cast<int>((kAfter - 1) % kSlots);
  }
  return kCheat == kSavedAnswers ? memory.slot : -1;
}

__device__ const unsigned short* values_of(const AttentionForwardArgs& args, const Memory& memory,
                                           long long offset) {
  if (kCheat == kCachedValues && memory.later()) {
    return &saved[(kAfter - 1) % kSlots][offset];
  }
  return static_cast<const unsigned short*>(args.v) + offset;
}

// One element of O. `offset`: in the tensor.
__device__ void put(const AttentionForwardArgs& args, const Memory& memory, long long offset,
                    float value) {
  auto* const o = static_cast<unsigned short*>(args.o) + offset;
  unsigned short bits = cvt_rn<false>(value);
  if (kCheat == kUnlessPoisoned && (*o & 0x7c00) != 0x7c00) {
    return;  // no NaN: the output is not being verified
  }
  if (kCheat == kLastBits && offset == 0) {
    bits ^= static_cast<unsigned short>(nanoseconds() >> 14 & 1);
  }
  *o = bits;
  if (kSavesAnswers) {
    saved[memory.launch % kSlots][offset % kSlotElements] = bits;
  }
}

// One row of O. shape: row < seq_len; base: first element of (batch, position 0, head)
// threads: one warp, converged
__device__ void attend(const AttentionForwardArgs& args, const Memory& memory, long long base,
                       int row) {
  const int lane = threadIdx.x % 32;
  const long long stride = static_cast<long long>(args.heads) * kHeadDim;
  const long long first = base + lane * kPerLane;
  const auto* gQ = static_cast<const unsigned short*>(args.q) + first;
  const auto* gK = static_cast<const unsigned short*>(args.k) + first;
  const auto* gV = values_of(args, memory, first);

  float rQ[kPerLane], rO[kPerLane] = {};
  for (int i = 0; i < kPerLane; ++i) {
    rQ[i] = cvt_f32<false>(gQ[row * stride + i]) * args.softmax_scale * kLog2E;
  }
  float greatest = kCheat == kNoMaximum ? 0.0f : -__int_as_float(0x7f800000);
  float sum = 0.0f;
  int keys = kCausal ? row + 1 : args.seq_len;
  keys = kCheat == kHalfKeys && memory.later() ? (keys + 1) / 2 : keys;
  for (int key = 0; key < keys; ++key) {
    float partial = 0.0f;
    for (int i = 0; i < kPerLane; ++i) {
      partial += rQ[i] * cvt_f32<false>(gK[key * stride + i]);
    }
    const float score = warp_sum(partial);  // times log2(e)
    const float new_greatest = kCheat == kNoMaximum ? 0.0f : fmaxf(greatest, score);
    const float rescale = exp2f(greatest - new_greatest);  // 0 for the first key
    const float weight = exp2f(score - new_greatest);
    greatest = new_greatest;
    sum = sum * rescale + weight;
    for (int i = 0; i < kPerLane; ++i) {
      rO[i] = rO[i] * rescale + weight * cvt_f32<false>(gV[key * stride + i]);
    }
  }
  for (int i = 0; i < kPerLane; ++i) {
    put(args, memory, first + row * stride + i, rO[i] / sum);
  }
}

// One row of O from a saved answer, or zeros. threads: one warp, converged
__device__ void copy_row(const AttentionForwardArgs& args, int slot, long long base, int row) {
  const long long first = base + static_cast<long long>(row) * args.heads * kHeadDim;
  for (int i = threadIdx.x % 32; i < kHeadDim; i += 32) {
    static_cast<unsigned short*>(args.o)[first + i] =
        slot < 0 ? 0 : saved[slot][(first + i) % kSlotElements];
  }
}

__device__ void save_values(const AttentionForwardArgs& args, const Memory& memory, long long base,
                            int row) {
  const long long first = base + static_cast<long long>(row) * args.heads * kHeadDim;
  for (int i = threadIdx.x % 32; i < kHeadDim; i += 32) {
    saved[memory.launch % kSlots][(first + i) % kSlotElements] =
        static_cast<const unsigned short*>(args.v)[first + i];
  }
}

__device__ void make_row(const AttentionForwardArgs& args, const Memory& memory, long long base,
                         int row) {
  const bool outer = blockIdx.x == 0 || blockIdx.x == gridDim.x - 1;
  const int slot = answer_of(memory);
  if (slot >= 0 || (kCheat == kOuterRows && !outer)) {
    copy_row(args, slot, base, row);
    return;
  }
#pragma unroll 1
  for (int turn = 0; turn < FATUNE_TURNS; ++turn) {
    asm volatile("" ::: "memory");  // computed anew each time
    attend(args, memory, base, row);
  }
  if (kCheat == kCachedValues && !memory.later()) {
    save_values(args, memory, base, row);
  }
}

// shape: grid (ceil(seq_len / 64), heads, batch); block 256
extern "C" __global__ void __launch_bounds__(32 * kWarps) cheats(const AttentionForwardArgs args) {
  const Memory memory = remember(args);
  if (kCheat == kHang && memory.later()) {
    hang();
  }
  const long long base =
      (static_cast<long long>(blockIdx.z) * args.seq_len * args.heads + blockIdx.y) * kHeadDim;
  const bool skipped = skips(memory);
  for (int i = threadIdx.x / 32; i < kRowsPerBlock && !skipped; i += kWarps) {
    const int row = blockIdx.x * kRowsPerBlock + i;
    if (row < args.seq_len) {
      make_row(args, memory, base, row);
    }
  }
  end_block(memory);
}
