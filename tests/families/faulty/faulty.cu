// A small attention kernel that goes wrong in the way that FATUNE_FAULT names (family.json), and is
// right without a fault. One warp computes one query row at a time; its lanes share the head
// dimension. Every fault happens in every launch, except the late crash.
// source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018
#include "common/attention_args.h"
#include "common/ptx_convert.cuh"

enum Fault {  // values as in family.json
  kCompileError = 1,
  kTooMuchSmem,  // by its launch: family.json
  kFarWrite,
  kFarRead,
  kMisaligned,
  kTrap,
  kAssertion,
  kNone,
  kInfiniteLoop,
  kDeadlock,
  kWrongRow,
  kNan,
  kNearRead,
  kStrayWrite,
  kOverInputs,
  kLateCrash
};

constexpr int kFault = FATUNE_FAULT;
constexpr int kHeadDim = FATUNE_d_head;
constexpr int kPerLane = kHeadDim / 32;  // neighbouring elements of a row that a lane holds
constexpr bool kCausal = FATUNE_CAUSAL;
constexpr int kWarps = 8;
constexpr int kRowsPerBlock = 64;
constexpr float kLog2E = 1.44269504088896340736f;
constexpr unsigned kLateLaunch = 7;  // after five that verify: the third sample of each process

static_assert(kFault != kCompileError, "this kernel is meant not to compile");

__device__ unsigned launches;

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  }
  return value;
}

// No allocation is a TiB away from the output.
__device__ volatile int* far_away(const AttentionForwardArgs& args) {
  return reinterpret_cast<volatile int*>(static_cast<char*>(args.o) + (1ll << 40));
}

// True in the one thread of a launch that goes wrong.
__device__ bool is_culprit() {
  return blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0 && threadIdx.x == 0;
}

// The faults of one thread, before anything is computed.
__device__ void go_wrong_alone(const AttentionForwardArgs& args) {
  if (kFault == kFarWrite || (kFault == kLateCrash && atomicAdd(&launches, 1u) == kLateLaunch)) {
    *far_away(args) = 1;
  } else if (kFault == kFarRead) {
    *static_cast<volatile int*>(args.o) = *far_away(args);
  } else if (kFault == kMisaligned) {
    *reinterpret_cast<volatile int*>(static_cast<char*>(args.o) + 1) = 0;
  } else if (kFault == kTrap) {
    __trap();
  } else if (kFault == kAssertion) {
    __assertfail("the output is right", "faulty.cu", __LINE__, "faulty", 1);
  }
}

// The faults that hang a whole block.
__device__ void hang() {
  if (kFault == kInfiniteLoop) {
    __shared__ volatile int forever;
    forever = 1;
    while (forever == 1) {
    }
  }
  // Each barrier waits for the whole block: neither sees it.
  if (kFault == kDeadlock) {
    if (threadIdx.x < 32) {
      asm volatile("bar.sync 1, 256;" ::: "memory");
    } else {
      asm volatile("bar.sync 2, 256;" ::: "memory");
    }
  }
}

// The faults of the result, after it was written, by the culprit.
__device__ void spoil_memory(const AttentionForwardArgs& args) {
  const long long elements =
      static_cast<long long>(args.batch) * args.seq_len * args.heads * kHeadDim;
  if (kFault == kStrayWrite) {
    static_cast<unsigned short*>(args.o)[elements] = 0x1234;
  } else if (kFault == kOverInputs) {
    *static_cast<unsigned short*>(const_cast<void*>(args.v)) ^= 1;
  }
}

// The value to write for an element of the culprit's row.
__device__ unsigned short spoilt(float value, bool culprit) {
  if (kFault == kWrongRow && culprit) {
    value = 2.0f * value + 0.5f;
  }
  return kFault == kNan && culprit && threadIdx.x == 0 ? 0x7fff : cvt_rn<false>(value);
}

// One row of O. shape: row < seq_len; base: first element of (batch, position 0, head)
// threads: one warp, converged
__device__ void attend(const AttentionForwardArgs& args, long long base, int row, bool culprit) {
  const int lane = threadIdx.x % 32;
  const long long stride = static_cast<long long>(args.heads) * kHeadDim;
  const auto* gQ = static_cast<const unsigned short*>(args.q) + base + lane * kPerLane;
  const auto* gK = static_cast<const unsigned short*>(args.k) + base + lane * kPerLane;
  const auto* gV = static_cast<const unsigned short*>(args.v) + base + lane * kPerLane;
  auto* gO = static_cast<unsigned short*>(args.o) + base + lane * kPerLane;

  float rQ[kPerLane], rO[kPerLane] = {};
  for (int i = 0; i < kPerLane; ++i) {
    rQ[i] = cvt_f32<false>(gQ[row * stride + i]) * args.softmax_scale * kLog2E;
  }
  float greatest = -__int_as_float(0x7f800000);
  float sum = 0.0f;
  const int keys = kCausal ? row + 1 : args.seq_len;
  for (int key = 0; key < keys; ++key) {
    float partial = 0.0f;
    for (int i = 0; i < kPerLane; ++i) {
      partial += rQ[i] * cvt_f32<false>(gK[key * stride + i]);
    }
    const float score = warp_sum(partial);  // times log2(e)
    const float new_greatest = fmaxf(greatest, score);
    const float rescale = exp2f(greatest - new_greatest);  // 0 for the first key
    const float weight = exp2f(score - new_greatest);
    greatest = new_greatest;
    sum = sum * rescale + weight;
    for (int i = 0; i < kPerLane; ++i) {
      rO[i] = rO[i] * rescale + weight * cvt_f32<false>(gV[key * stride + i]);
    }
  }
  for (int i = 0; i < kPerLane; ++i) {
    if (kFault == kNearRead) {
      rO[i] += 0.0f * cvt_f32<false>(gV[args.seq_len * stride + i]);
    }
    gO[row * stride + i] = spoilt(rO[i] / sum, culprit);
  }
}

// shape: grid (ceil(seq_len / 64), heads, batch); block 256
extern "C" __global__ void __launch_bounds__(32 * kWarps) faulty(const AttentionForwardArgs args) {
  if (is_culprit()) {
    go_wrong_alone(args);
  }
  hang();
  const long long base =
      (static_cast<long long>(blockIdx.z) * args.seq_len * args.heads + blockIdx.y) * kHeadDim;
  const bool first_block = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;
  for (int i = threadIdx.x / 32; i < kRowsPerBlock; i += kWarps) {
    const int row = blockIdx.x * kRowsPerBlock + i;
#pragma unroll 1
    for (int turn = 0; turn < FATUNE_TURNS && row < args.seq_len; ++turn) {
      asm volatile("" ::: "memory");  // computed anew each time
      attend(args, base, row, first_block && i == 0);
    }
  }
  if (is_culprit()) {
    spoil_memory(args);
  }
}
