// A consumer: one warpgroup that computes 64 rows of O.
//
//   ws       scores S = Q K^T, softmax, O += P V, one after the other; several consumers fill each
//            other's gaps
//   overlap  the tensor cores compute the next step's S during this step's softmax
//   ws_pp    consumers take turns: to issue products with overlap, to take exponentials without
#ifndef FATUNE_KERNELS_FLASH_SM90_CONSUMER_CUH
#define FATUNE_KERNELS_FLASH_SM90_CONSUMER_CUH

#include "common/online_softmax.cuh"
#include "common/ptx_barrier.cuh"
#include "common/ptx_mma.cuh"
#include "common/ptx_mma_fp8.cuh"
#include "common/ptx_tma.cuh"
#include "common/ptx_wgmma.cuh"
#include "flash_sm90/debug_dump.cuh"
#include "flash_sm90/eight_bit_consumer.cuh"
#include "flash_sm90/eight_bit_scales.cuh"
#include "flash_sm90/eight_bit_softmax.cuh"
#include "flash_sm90/epilogue.cuh"
#include "flash_sm90/mask.cuh"
#include "flash_sm90/smem_plan.cuh"
#include "flash_sm90/split_output.cuh"
#include "flash_sm90/tile_schedule.cuh"
#include "flash_sm90/warp_scores.cuh"

// threads: one warpgroup, converged, in every function
template <typename S>
class Consumer {
 public:
  using Plan = SmemPlan<S>;

  // group: the consumer; thread: index in its warpgroup
  __device__ __forceinline__ Consumer(const Work& work, const TensorMap* map_o,
                                      const DumpTo& dump_to, unsigned smem, int group, int thread)
      : work_(work),
        map_o_(map_o),
        smem_(smem),
        group_(group),
        warp_(thread / 32),
        lane_(thread % 32),
        scale_log2_(log2_unit(work)),
        dump_(dump_to) {
    if constexpr (S::kSpareSlot) {
      q_.begin_at(group_);
    }
    clear_spare_rows();
    if (S::kPingPong && S::kGroups > 1 && group_ == S::kGroups - 1) {
      pass_turn();
    }
  }

  __device__ __forceinline__ void compute_tile(const Tile& tile) {
    state_.reference[0] = state_.reference[1] = kNothingSeen;
    state_.sum[0] = state_.sum[1] = 0.0f;
    first_row_ = tile.first_row + group_ * S::kQueriesToConsumer;
    if constexpr (kPacked || kKeyLengths) {
      sequence_ = sequence_of(work_, tile);
    }
    if constexpr (kPacked || kIdleConsumers) {
      if ((kIdleConsumers && kCausal && first_row_ < 0) || first_row_ >= queries()) {
        pass_over(tile);
        return;
      }
    }
    if constexpr (kSinks) {
      load_sinks(tile);
    }
    if constexpr (kEightBits) {
      scales_.load(work_, tile, first_row_);
      sums_.begin();
      if constexpr (kScaleBlock == 0) {
        scale_log2_ = log2_unit(scales_);
      }
    }
    dump_.begin_tile(first_row_, warp_, lane_);
    const Steps steps = own_steps(tile);
    // Steps to skip are loaded after the next consumer's Q, which goes to the stored slot.
    if (S::kSpareSlot && steps.last < tile.last_step) {
      free_stored_slot();
    }
    skip_steps(tile.last_step - steps.last);
    mbarrier_wait(smem_ + Plan::full_q(q_.index(), group_), q_.parity());
    hold_queries();
    if constexpr (S::kOverlap) {
      overlapped_steps(steps);
    } else {
      serial_steps(steps);
    }
    skip_steps(steps.first - tile.first_step);
    finish(tile);
  }

  // Call before the block ends: stores read its shared memory until then.
  __device__ __forceinline__ void wait_for_stores() const {
    if (is_storing_thread()) {
      tma_store_wait_read();
    }
  }

 private:
  // --- The sequence ---

  __device__ __forceinline__ int queries() const {
    return kPacked ? sequence_.seq_len : work_.seq_len;
  }
  __device__ __forceinline__ int keys() const {
    return kPacked || kKeyLengths ? sequence_.seq_len_kv : work_.seq_len_kv;
  }
  // The first row of Q in the tensor's batch.
  __device__ __forceinline__ int first_query() const { return kPacked ? sequence_.first_query : 0; }

  // The thread's first row in the consumer; the other one is 8 rows after it.
  __device__ __forceinline__ int own_row() const { return 16 * warp_ + lane_ / 4; }

  // Where the thread's first row stands among the keys; position: where the consumer's first query
  // does. The order of the first sum's terms keeps machine code without pack_gqa what it was.
  __device__ __forceinline__ int own_position(int position) const {
    return kRowHeads == 1 ? position + 16 * warp_ + lane_ / 4 : position + query_of(own_row());
  }

  __device__ __forceinline__ void load_sinks(const Tile& tile) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      sinks_[h] = sink_of(work_, tile.head * kRowHeads + head_of(own_row() + 8 * h));
    }
  }

  // What makes a score an exponent of two.
  template <typename Args>
  __device__ __forceinline__ static float log2_unit(const Args& args) {
    return score_unit(args) * 1.44269504088896340736f;
  }

  // What has the softmax_scale and the softcap of the tile's scores.
  __device__ __forceinline__ const auto& of_scores() const {
    if constexpr (kEightBits) {
      return scales_;
    } else {
      return work_;
    }
  }

  // With scales of blocks: loads those of a step.
  __device__ __forceinline__ void ask_scales(int step) { scales_.template ask<S>(work_, step); }
  // Goes on to the scale of K that was asked for.
  __device__ __forceinline__ void take_key_scale() {
    if constexpr (kScaleBlock > 0) {
      scales_.take_key();
      scale_log2_ = log2_unit(scales_);
    }
  }
  // Goes on to the scale of V that was asked for. In a tile's first step O has no products yet.
  // sync: no product to O is pending
  __device__ __forceinline__ void take_value_scale(bool is_first) {
    if (is_first) {
      scales_.begin_value();
    } else if constexpr (kScaleBlock > 0) {
      scales_.template take_value<S>(outputs());
      after_wait(o_);  // multiplications of O stay before the next product's fence
    }
  }

  // O without the sums of rows that its product may have.
  __device__ __forceinline__ float (&outputs())[S::kOutputs] {
    return reinterpret_cast<float(&)[S::kOutputs]>(o_);
  }

  // --- Turns ---

  static constexpr unsigned kFirstTurnBarrier = 1;                // one per consumer
  static constexpr unsigned kFirstStoreBarrier = 1 + S::kGroups;  // one per consumer
  static constexpr unsigned kTurnThreads = 2 * S::kGroupThreads;

  __device__ __forceinline__ void await_turn() const {
    if constexpr (S::kPingPong && S::kGroups > 1) {
      named_barrier_wait(kFirstTurnBarrier + group_, kTurnThreads);
    }
  }
  __device__ __forceinline__ void pass_turn() const {
    if constexpr (S::kPingPong && S::kGroups > 1) {
      const int next = group_ + 1 == S::kGroups ? 0 : group_ + 1;
      named_barrier_arrive(kFirstTurnBarrier + next, kTurnThreads);
    }
  }

  // --- Buffers ---

  // Frees a buffer. Every block of the cluster fills a part of it, so all producers are told.
  __device__ __forceinline__ void release(unsigned full) const {
    const unsigned empty = smem_ + Plan::empty(full);
    if constexpr (S::kCluster == 1) {
      if (lane_ == 0) {
        mbarrier_arrive(empty);
      }
    } else if (lane_ < S::kCluster) {
      mbarrier_arrive_at(empty, lane_);
    }
  }

  // Sets rows of Q to 0 that no query fills. They stay so: loads leave them out, and O, which is
  // stored from there, has zeros too. So no bits depend on what a tile before has left in them.
  __device__ __forceinline__ void clear_spare_rows() const {
    if constexpr (S::kUsedRows < S::kGroupRows) {
      constexpr int kChunks = (S::kGroupRows - S::kUsedRows) * 8;  // of a panel, of 16 bytes
      // The first consumer is the first to fill the spare slot.
      const int slots = S::kSpareSlot && group_ == 0 ? 2 : S::kQuerySlots;
#pragma unroll 1
      for (int i = 32 * warp_ + lane_; i < slots * S::kPanels * kChunks; i += S::kGroupThreads) {
        const int panel = i / kChunks;
        const int slot = panel / S::kPanels;
        const int number = S::kSpareSlot ? group_ + slot * S::kGroups : slot;
        st_shared_16(smem_ + Plan::query(number, group_) +
                         (panel - slot * S::kPanels) * Plan::kPanelBytesQ +
                         S::kUsedRows * Plan::kLineBytes + (i - panel * kChunks) * 16,
                     make_uint4(0, 0, 0, 0));
      }
      fence_async_proxy();
      named_barrier_wait(kFirstStoreBarrier + group_, S::kGroupThreads);
    }
  }

  // --- Products ---

  // Reads the first columns of the consumer's rows of Q into registers.
  __device__ __forceinline__ void hold_queries() {
    const int row = 16 * warp_ + lane_ % 16;
    const unsigned line =
        smem_ + Plan::query(q_.index(), group_) + static_cast<unsigned>(row) * Plan::kLineBytes;
#pragma unroll
    for (int step = 0; step < S::kHeldSteps; ++step) {
      const int chunk = step % 4 * 2 + lane_ / 16;
      ldmatrix_x4(held_q_[step], line + step / 4 * Plan::kPanelBytesQ + 16 * (chunk ^ row % 8));
    }
  }

  // Starts S = Q K^T for a step's first kKeys keys. out: pending
  template <int kKeys>
  __device__ __forceinline__ void start_scores() {
    mbarrier_wait(smem_ + Plan::full_k(k_.index()), k_.parity());
    const unsigned long long q = swizzled_descriptor(smem_ + Plan::query(q_.index(), group_), 0);
    const unsigned long long k = swizzled_descriptor(smem_ + Plan::key(k_.index()), 0);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < S::kScoreDepth / S::kDepth; ++step) {
      const int panel = step / 4;
      const int within = step % 4 * (32 / 16);  // an instruction's columns are 32 bytes
      const unsigned long long keys = k + panel * (Plan::kPanelBytesKv / 16) + within;
      if constexpr (kEightBits) {
        wgmma_fp8_shared<kKeys>(s_, q + panel * (Plan::kPanelBytesQ / 16) + within, keys,
                                step > 0 ? 1 : 0);
      } else if (step < S::kHeldSteps) {
        wgmma_registers<S::kIsBf16, kKeys, true>(s_, held_q_[step], keys, step > 0 ? 1 : 0);
      } else {
        wgmma_shared<S::kIsBf16, kKeys>(s_, q + panel * (Plan::kPanelBytesQ / 16) + within, keys,
                                        step > 0 ? 1 : 0);
      }
    }
    wgmma_commit();
  }

  // Waits for the scores, and frees the buffer of K.
  template <int kPending>
  __device__ __forceinline__ void await_scores() {
    wgmma_wait<kPending>();
    after_wait(s_);
    release_key();
  }

  __device__ __forceinline__ void release_key() {
    release(Plan::full_k(k_.index()));
    k_.advance();
  }

  // Starts O += P V for a step's first kKeys keys, or O = P V unless `add`. out: pending
  template <int kKeys>
  __device__ __forceinline__ void start_output(int add) {
    mbarrier_wait(smem_ + Plan::ready_v(v_.index()), v_.parity());
    const unsigned long long v =
        kEightBits ? swizzled_descriptor(smem_ + Plan::transposed(v_.index()), 0)
                   : swizzled_descriptor(smem_ + Plan::value(v_.index()), Plan::kPanelBytesKv);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < kKeys / S::kDepth; ++step) {
      if constexpr (kEightBits) {
        wgmma_fp8_registers<S::kHeadDimV + S::kSumColumns>(
            o_, p_ + 4 * step, v + step / 4 * (Plan::kPanelBytesT / 16) + step % 4 * (32 / 16),
            step > 0 ? 1 : add);
      } else {
        wgmma_registers<S::kIsBf16, S::kHeadDimV>(o_, p_ + 4 * step, v + step * (16 * 128 / 16),
                                                  step > 0 ? 1 : add);
      }
    }
    wgmma_commit();
  }

  // Waits for the step's O += P V, and frees the buffer of V.
  __device__ __forceinline__ void await_output(int step) {
    wgmma_wait<0>();
    after_wait(o_);
    dump_.output(outputs(), step);
    release(Plan::read_v(v_.index()));
    v_.advance();
  }

  // --- Steps ---

  struct Steps {
    int last;
    int first;
  };

  // Returns the tile's steps with at least one key that this consumer's rows see; one step if there
  // is none.
  __device__ __forceinline__ Steps own_steps(const Tile& tile) const {
    Steps steps{tile.last_step, tile.first_step};
    if constexpr (kCausal || kWindow > 0) {
      const int position = first_row_ + keys() - queries();
      if constexpr (kWindow > 0) {
        steps.first = max(position - kWindow + 1, 0) / S::kBlockN;
        steps.first = min(max(steps.first, tile.first_step), tile.last_step);
      }
      const int last_key = position + S::kGroupQueries - 1 + kKeysAfter;
      steps.last = max(min(max(last_key, 0) / S::kBlockN, tile.last_step), steps.first);
    }
    return steps;
  }

  // Waits for the buffers of a step, and frees them.
  __device__ __forceinline__ void skip_step() {
    mbarrier_wait(smem_ + Plan::full_k(k_.index()), k_.parity());
    release_key();
    mbarrier_wait(smem_ + Plan::ready_v(v_.index()), v_.parity());
    release(Plan::read_v(v_.index()));
    v_.advance();
  }

  // Passes over steps that only other consumers need.
  __device__ __forceinline__ void skip_steps(int count) {
    if constexpr (kCausal || kWindow > 0 || kPacked || kIdleConsumers) {
#pragma unroll 1
      for (; count > 0; --count) {
        await_turn();
        pass_turn();
        skip_step();
      }
    }
  }

  // Passes over a tile in which this consumer has no rows. It takes as many turns as others do.
  __device__ __forceinline__ void pass_over(const Tile& tile) {
    mbarrier_wait(smem_ + Plan::full_q(q_.index(), group_), q_.parity());
    // Before the slot is free, and filled again, all threads must have seen that it was full.
    named_barrier_wait(kFirstStoreBarrier + group_, S::kGroupThreads);
    free_stored_slot();
    if constexpr (S::kOverlap) {
      skip_step();  // a tile's first step has no turn
    }
    skip_steps(tile.last_step - tile.first_step + (S::kOverlap ? 0 : 1));
    leave_slot();
  }

  __device__ __forceinline__ bool is_masked(int step) const {
    return (kCausal || kWindow > 0 || kRaggedKv) &&
           step_is_masked<S::kBlockN, S>(step, first_row_ + keys() - queries(), keys());
  }

  // Caps and masks the scores of a step's first kKeys keys.
  template <int kKeys>
  __device__ __forceinline__ void mask(int step) {
    cap_scores<kKeys / 2>(s_, of_scores());
    if constexpr (kCausal || kWindow > 0 || kRaggedKv) {
      const int position = first_row_ + keys() - queries();
      if (step_is_masked<kKeys, S>(step, position, keys())) {
        mask_scores<kKeys, S>(s_, own_position(position), own_row(),
                              step * S::kBlockN + lane_ % 4 * 2, keys());
      }
    }
    dump_.template scores<kKeys>(s_, step, scale_log2_);
  }

  template <int kKeys>
  __device__ __forceinline__ Rescale softmax() {
    if constexpr (kEightBits) {
      return softmax_step_of_8_bits<kKeys, S>(s_, state_, sums_.of_row, scale_log2_);
    } else {
      return softmax_step<kKeys, S>(s_, state_, scale_log2_);
    }
  }

  template <int kKeys>
  __device__ __forceinline__ void pack(int step) {
    if constexpr (kEightBits) {
      pack_e4m3<kKeys, S>(p_, s_);
      sums_.template add_packed<kKeys, S>(p_);
    } else {
      pack_probabilities<kKeys, S>(p_, s_);
    }
    dump_.template softmax<kKeys>(state_, p_, step, scale_log2_);
  }

  __device__ __forceinline__ void serial_steps(const Steps& steps) {
#pragma unroll 1
    for (int step = steps.last; step >= steps.first; --step) {
      ask_scales(step);
      start_scores<S::kBlockN>();
      free_stored_slot();
      await_scores<0>();
      take_key_scale();
      mask<S::kBlockN>(step);
      await_turn();
      const Rescale rescale = softmax<S::kBlockN>();
      pass_turn();
      rescale_output<S>(o_, rescale);
      take_value_scale(step == steps.last);
      if constexpr (kEightBits) {
        sums_.rescale(rescale);
      }
      pack<S::kBlockN>(step);
      start_output<S::kBlockN>(step == steps.last ? 0 : 1);
      await_output(step);
      if constexpr (kEightBits) {
        sums_.template take_column<S>(o_);
      }
    }
  }

  __device__ __forceinline__ void overlapped_steps(const Steps& steps) {
    ask_scales(steps.last);
    start_scores<S::kFirstKeys>();
    free_stored_slot();
    await_scores<0>();
    take_key_scale();
    take_value_scale(true);
    mask<S::kFirstKeys>(steps.last);
    if constexpr (kEightBits) {
      first_softmax_step_of_8_bits<S::kFirstKeys, S>(s_, state_, scale_log2_);
    } else {
      softmax_step<S::kFirstKeys, S>(s_, state_, scale_log2_);
    }
    pack<S::kFirstKeys>(steps.last);
    int step = steps.last - 1;
    if (S::kFirstKeys < S::kBlockN && step >= steps.first) {
      overlapped_step<S::kFirstKeys>(steps, step--);
    }
#pragma unroll 1
    for (; step >= steps.first; --step) {
      overlapped_step<S::kBlockN>(steps, step);
    }
    finish_output(steps);
  }

  // Computes the step's scores and softmax, and O += P V of the previous step of kKeysBefore keys.
  template <int kKeysBefore>
  __device__ __forceinline__ void overlapped_step(const Steps& steps, int step) {
    ask_scales(step);
    await_turn();
    start_scores<S::kBlockN>();
    start_output<kKeysBefore>(step + 1 == steps.last ? 0 : 1);
    pass_turn();
    if constexpr (kEightBits) {
      softmax_and_pack(step);
      return;
    }
    if constexpr (S::kSkipMax) {
      softmax_by_sums(step);
    } else {
      await_scores<1>();
      mask<S::kBlockN>(step);
      const Rescale rescale = softmax_step<S::kBlockN, S>(s_, state_, scale_log2_);
      await_output(step + 1);
      rescale_output<S>(o_, rescale);
    }
    pack<S::kBlockN>(step);
  }

  // The second half of overlapped_step, with maxima only where something is masked. K stays until
  // the sums are known: a warp whose sums are too great computes its scores again.
  __device__ __forceinline__ void softmax_by_sums(int step) {
    wgmma_wait<1>();
    after_wait(s_);
    Rescale rescale{false, {1.0f, 1.0f}};
    bool done = true;
    if (is_masked(step)) {
      mask<S::kBlockN>(step);
      rescale = softmax_step<S::kBlockN, S>(s_, state_, scale_log2_);
    } else {
      cap_scores<S::kBlockN / 2>(s_, of_scores());
      dump_.template scores<S::kBlockN>(s_, step, scale_log2_);
      done = softmax_step_without_max<S::kBlockN, S>(s_, state_, scale_log2_);
    }
    await_output(step + 1);
    if (!done) {
      warp_scores<S>(s_, smem_ + Plan::query(q_.index(), group_), smem_ + Plan::key(k_.index()),
                     warp_, lane_);
      cap_scores<S::kBlockN / 2>(s_, of_scores());
      rescale = softmax_step<S::kBlockN, S>(s_, state_, scale_log2_);
    }
    rescale_output<S>(o_, rescale);
    release_key();
  }

  // The second half of overlapped_step with elements of 8 bits: P is packed while later
  // exponentials are computed. O of the step before is awaited in between, because its product
  // reads P.
  __device__ __forceinline__ void softmax_and_pack(int step) {
    wgmma_wait<1>();
    after_wait(s_);
    take_key_scale();
    const bool takes_maxima = !S::kSkipMax || is_masked(step);
    Rescale rescale{false, {1.0f, 1.0f}};
    if (takes_maxima) {
      mask<S::kBlockN>(step);
      rescale = follow_maxima_of_8_bits<S::kBlockN, S>(s_, state_, sums_.of_row, scale_log2_);
    } else {
      cap_scores<S::kBlockN / 2>(s_, of_scores());
    }
    if constexpr (!S::kSkipMax) {
      release_key();
    }
    PackedSoftmax<S> packed(state_, scale_log2_);
    packed.begin(s_);
    await_output(step + 1);
    packed.finish(s_, p_);
    if constexpr (S::kSkipMax) {
      if (!takes_maxima && exceeds_range(p_)) {
        warp_scores<S>(s_, smem_ + Plan::query(q_.index(), group_), smem_ + Plan::key(k_.index()),
                       warp_, lane_);
        cap_scores<S::kBlockN / 2>(s_, of_scores());
        rescale = softmax<S::kBlockN>();
        pack_e4m3<S::kBlockN, S>(p_, s_);
      } else {
        packed.add_to(state_);
      }
      release_key();
    } else {
      packed.add_to(state_);
    }
    rescale_output<S>(o_, rescale);
    sums_.rescale(rescale);
    sums_.template take_column<S>(o_);
    take_value_scale(false);
    sums_.template add_packed<S::kBlockN, S>(p_);
  }

  // Computes O += P V of the last step. With elements of 8 bits the wait is within the branches:
  // behind them, the compiler copies sums of rows before the wait.
  __device__ __forceinline__ void finish_output(const Steps& steps) {
    if (S::kFirstKeys < S::kBlockN && steps.first == steps.last) {
      start_output<S::kFirstKeys>(0);
      if constexpr (kEightBits) {
        await_output(steps.first);
      }
    } else {
      start_output<S::kBlockN>(steps.first == steps.last ? 0 : 1);
      if constexpr (kEightBits) {
        await_output(steps.first);
      }
    }
    if constexpr (!kEightBits) {
      await_output(steps.first);
    } else {
      sums_.template take_column<S>(o_);
    }
  }

  // --- The end of a tile ---

  __device__ __forceinline__ bool is_storing_thread() const { return warp_ == 0 && lane_ == 0; }

  __device__ __forceinline__ void finish(const Tile& tile) {
    if constexpr (kEightBits) {
      sums_.change_places(state_);
      scale_values<S>(outputs(), scales_);
    }
    if (!S::kSplitTail || tile.split < 0 || unite_parts(tile)) {
      store_output(tile);
    }
    leave_slot();
  }

  // Goes on to the next slot of Q. This one is free once O is stored.
  __device__ __forceinline__ void leave_slot() {
    stored_slot_ = q_.index();
    if constexpr (S::kQuerySlots == 1 && !S::kSpareSlot) {
      free_stored_slot();  // the next tile's Q has nowhere else to go
    }
    q_.advance();
  }

  __device__ __forceinline__ bool unite_parts(const Tile& tile) {
    const SplitOutput<S> parts(work_, tile.split, group_, 32 * warp_ + lane_,
                               kFirstStoreBarrier + group_);
    return parts.unite(outputs(), state_, reference_unit(scale_log2_));
  }

  // Writes O to shared memory, from where one thread of the consumer stores it; or all do, where
  // rows of the next sequence follow.
  __device__ __forceinline__ void store_output(const Tile& tile) {
    [[maybe_unused]] SoftmaxState unrounded = state_;
    normalise_output<S>(outputs(), state_, sinks_, reference_unit(scale_log2_), own_row());
    if constexpr (kWritesLse) {
      if constexpr (kEightBits) {
        sums_.change_places(unrounded);
        finish_sum(unrounded, 0, sinks_, reference_unit(scale_log2_));
        finish_sum(unrounded, 1, sinks_, reference_unit(scale_log2_));
      }
      const long long head =
          (static_cast<long long>(tile.batch) * work_.heads + tile.head) * kRowHeads;
      store_log_sum_exp<S>(work_.lse + head * work_.seq_len + first_query(), work_.seq_len,
                           kEightBits ? unrounded : state_, first_row_, own_row(), queries(),
                           kEightBits ? ln2() : score_unit(of_scores()), lane_);
    }
    const unsigned staged = smem_ + Plan::query(q_.index(), group_);
    if constexpr (kEightBits) {
      stage_transposed_output<S>(staged, outputs(), warp_, lane_);
    } else {
      stage_output<S>(staged, outputs(), warp_, lane_);
    }
    fence_async_proxy();
    named_barrier_wait(kFirstStoreBarrier + group_, S::kGroupThreads);
    if constexpr (kPacked) {
      if (const int rows = queries() - first_row_; rows < S::kGroupQueries) {
        copy_rows<S>(work_, staged, rows * kRowHeads, first_query() + first_row_,
                     tile.head * kRowHeads, 32 * warp_ + lane_);
        named_barrier_wait(kFirstStoreBarrier + group_, S::kGroupThreads);
        return;
      }
    }
    if (is_storing_thread()) {
      using OfO = Panels<S::kHeadDimV, false>;
      const int row = first_query() + first_row_;
      const int head = tile.head;  // the copies below refer to no `tile`, which is in registers
      const int batch = tile.batch;
      for_each_copy<OfO::kCount, OfO::kQueriesPerCopy>([&](int panel) {
        tma_store<kPassing>(map_o_, queries_at<S::kHeadDimV, false>(row, panel, head, batch),
                            staged + panel * Plan::kPanelBytesQ);
      });
      tma_store_commit();
    }
  }

  // Frees the previous tile's slot once O has been stored from it. With two slots this overlaps the
  // next tile's first product.
  __device__ __forceinline__ void free_stored_slot() {
    if (S::kPersistent && stored_slot_ >= 0) {
      if (is_storing_thread()) {
        tma_store_wait_read();
        mbarrier_arrive(smem_ + Plan::empty(Plan::full_q(stored_slot_, group_)));
      }
      stored_slot_ = -1;
    }
  }

  const Work& work_;
  const TensorMap* map_o_;
  const unsigned smem_;
  const int group_;
  const int warp_;
  const int lane_;
  float scale_log2_;
  TileScales scales_;     // of 8 bits
  RoundedSums sums_;      // of 8 bits
  float sinks_[2];        // of the heads of the thread's rows
  int first_row_;         // this consumer's first query of the tile, counted in the sequence
  Sequence sequence_;     // the tile's, of a packed batch or with lengths of keys
  int stored_slot_ = -1;  // slot of Q from which O is being stored; -1: none
  typename QuerySlots<S>::OfConsumer q_;
  Ring<S::kStages> k_;
  Ring<S::kStages> v_;
  SoftmaxState state_;
  unsigned held_q_[S::kHeldSteps > 0 ? S::kHeldSteps : 1][4];  // the first columns of Q
  float s_[S::kScores];
  float o_[S::kOutputs + S::kSumColumns / 2];
  unsigned p_[S::kScores / S::kPackedScores];
  StepDump<S> dump_;
};

#endif
