// Attention forward for few queries against many keys, with mma.sync and cp.async.
//
// All warps of a block load and compute. The block's steps form one sequence, from part to part:
// while it computes a step, it loads the one that is NUM_STAGES - 1 later, be it of the next part.
#include "common/ptx_memory.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode_sm80/async_copy.cuh"
#include "flash_decode_sm80/config.cuh"
#include "flash_decode_sm80/kernel_args.cuh"
#include "flash_decode_sm80/loads.cuh"
#include "flash_decode_sm80/output.cuh"
#include "flash_decode_sm80/part_counts.cuh"
#include "flash_decode_sm80/part_queue.cuh"
#include "flash_decode_sm80/warp_attention.cuh"

// A turn waits for a stage, loads one, and computes one. A part has a turn for each of its steps,
// but at least NUM_STAGES - 1, so that the loads, which are as many turns ahead, are never ahead by
// more than one part. Each turn makes one group of copies, which may be empty.
// threads: the block, converged, in all functions
template <typename S>
class DecodeBlock {
 public:
  using Plan = SmemPlan<S>;

  __device__ __forceinline__ DecodeBlock(const KeysAndValues& kv, const Work& work,
                                         unsigned char* memory)
      : work_(work),
        smem_(shared_address(memory)),
        queue_(work, memory),
        loads_(kv, work, smem_),
        attention_(work),
        output_(work, memory),
        counts_(work, reinterpret_cast<int*>(memory + Plan::kVerdict)) {}

  // Computes the block's parts, and adds up its items. Turns without a part fill the stages before
  // the first one, and count the last one.
  __device__ __forceinline__ void run() {
    Part part{};
    part.batch = -1;
    int turns = S::kStages;
#pragma unroll 1
    for (;;) {
      take_turns(part, turns);
      if (has_keys(part)) {
        output_.store(part, attention_, stage_before());
      }
      add_up(part);
      if (part.batch < 0 && number_ >= 0) {
        return;
      }
      ++number_;
      part = queue_.part(number_);
      turns = part.batch < 0 ? 2 : turns_of(part);
    }
  }

 private:
  __device__ __forceinline__ static bool has_keys(const Part& part) {
    return part.batch >= 0 && part.item < 0;
  }
  __device__ __forceinline__ static int steps_of_part(const Part& part) {
    return has_keys(part) ? part.end - part.step : 0;
  }
  __device__ __forceinline__ static int turns_of(const Part& part) {
    return max(S::kStages - 1, steps_of_part(part));
  }

  // Whether the part before has sums that are added up with those of others.
  __device__ __forceinline__ bool follows_sums() const {
    if (number_ < 1) {
      return false;
    }
    const Part before = queue_.part(number_ - 1);
    return has_keys(before) && before.parts > 1;
  }

  // Computes the steps of a part. In the first turn, it counts the part before, whose sums all
  // threads have stored by then.
  __device__ __forceinline__ void take_turns(const Part& part, int turns) {
    const int steps = steps_of_part(part);
    attention_.begin(part);
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
      cp_async_wait_group<S::kStages - 2>();
      __syncthreads();
      if (turn == 0 && has_keys(part)) {
        attention_.take_query(smem_ + Plan::query(number_));
      }
      load();
      const bool counts = turn == 0 && threadIdx.x == 0 && follows_sums();
      int counted = 0;
      if (counts) {
        counted = counts_.count(queue_.part(number_ - 1));
      }
      if (turn < steps) {
        attention_.step(part, smem_ + Plan::key(stage_), smem_ + Plan::value(stage_),
                        (part.step + turn) * S::kStepKeys);
      }
      if (counts) {
        counts_.judge(queue_.part(number_ - 1), counted);
      }
      queue_.publish();
      stage_ = stage_ + 1 == S::kStages ? 0 : stage_ + 1;
    }
  }

  // Loads the step of this turn, into the stage of the turn before.
  __device__ __forceinline__ void load() {
    if (turns_to_load_ == 0) {
      ++loaded_;
      const Part part = queue_.part(loaded_);
      turns_to_load_ = 0x7fffffff;
      if (part.batch >= 0) {
        queue_.take();
        turns_to_load_ = turns_of(part);
      }
      if (has_keys(part)) {
        loads_.begin(part, loaded_);
      }
    }
    --turns_to_load_;
    loads_.load_step(stage_before());
    cp_async_commit();
  }

  __device__ __forceinline__ int stage_before() const {
    return stage_ == 0 ? S::kStages - 1 : stage_ - 1;
  }

  // Adds up the sums of an item, or of the part before if it was the last of its rows.
  __device__ __forceinline__ void add_up(const Part& part) const {
    const bool is_item = part.batch >= 0 && part.item >= 0;
    if (is_item ? part.parts > 1 : follows_sums() && counts_.was_last()) {
      if (is_item) {
        counts_.await_all(part);
      }
      output_.add_parts(is_item ? part : queue_.part(number_ - 1), is_item ? part.item : 0,
                        is_item ? work_.tile_items : 1);
    }
  }

  const Work& work_;
  const unsigned smem_;
  PartQueue<S> queue_;
  Loads<S> loads_;
  WarpAttention<S> attention_;
  const Output<S> output_;
  const PartCounts counts_;
  int number_ = -1;        // of the part that is computed, among the block's
  int loaded_ = -1;        // of the part that is loaded
  int turns_to_load_ = 1;  // of that part; one turn passes before the first part is known
  int stage_ = 0;          // of the step that the turn computes
};

#ifdef FATUNE_ROWS
using Config = Shape<FlashDecodeConfig{FATUNE_DTYPE, FATUNE_D_HEAD, FATUNE_ROWS, FATUNE_STEP_KEYS,
                                       FATUNE_NUM_STAGES, FATUNE_WARPS, FATUNE_BLOCKS_PER_SM}>;

// O = softmax(softmax_scale * Q K^T [causal, window]) V, and the log-sum-exp if it is wanted.
// shape:   grid: what the device holds, or as many blocks as there are parts; block 32 * WARPS
extern "C" __global__ void __launch_bounds__(Config::kThreads, FATUNE_BLOCKS_PER_SM)
    flash_decode_sm80_kernel(const __grid_constant__ Work work,
                             const __grid_constant__ KeysAndValues kv) {
  extern __shared__ __align__(128) unsigned char memory[];
  DecodeBlock<Config>(kv, work, memory).run();
}
#endif
