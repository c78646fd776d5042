// Barriers of Hopper: mbarriers in shared memory, named barriers, clusters. One thin function per
// instruction.
// source: PTX ISA, "Parallel Synchronization and Communication Instructions"
#ifndef FATUNE_KERNELS_COMMON_PTX_BARRIER_CUH
#define FATUNE_KERNELS_COMMON_PTX_BARRIER_CUH

// threads: one. `arrivals`: arrivals that complete a phase, besides the bytes expected in it
__device__ __forceinline__ void mbarrier_init(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes mbarriers that this thread initialised visible to copies and to the cluster.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives at the same barrier of block `rank` of the cluster.
__device__ __forceinline__ void mbarrier_arrive_at(unsigned barrier, unsigned rank) {
  asm volatile(
      "{\n\t.reg .b32 remote;\n\t"
      "mapa.shared::cluster.u32 remote, %0, %1;\n\t"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n\t}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

// Arrives at the mbarrier with this cluster_address().
__device__ __forceinline__ void mbarrier_arrive_cluster(unsigned remote) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
}

// As mbarrier_arrive_cluster. What this thread wrote before is seen by those of the cluster that
// wait with mbarrier_wait_for_cluster.
__device__ __forceinline__ void mbarrier_release_cluster(unsigned remote) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote)
               : "memory");
}

// Arrives, and adds to the bytes that the phase waits for.
__device__ __forceinline__ void mbarrier_arrive_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Returns when the phase of this parity is complete. A new barrier is in phase 0, and the phase
// before it, of parity 1, counts as complete.
__device__ __forceinline__ void mbarrier_wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n\t.reg .pred complete;\n\t"
      "WAIT:\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n\t"
      "@!complete bra WAIT;\n\t}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// As mbarrier_wait, for what other blocks of the cluster wrote before mbarrier_release_cluster.
__device__ __forceinline__ void mbarrier_wait_for_cluster(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n\t.reg .pred complete;\n\t"
      "WAIT:\n\t"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 complete, [%0], %1;\n\t"
      "@!complete bra WAIT;\n\t}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// threads: whole warps; `threads` counts those that wait and those that arrive together
__device__ __forceinline__ void named_barrier_wait(unsigned id, unsigned threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void named_barrier_arrive(unsigned id, unsigned threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
// As named_barrier_wait, with whole warps that are converged. Returns whether `vote` of any thread
// is true.
__device__ __forceinline__ bool named_barrier_any(unsigned id, unsigned threads, bool vote) {
  unsigned any;
  asm volatile(
      "{\n\t.reg .pred vote, any;\n\t"
      "setp.ne.u32 vote, %3, 0;\n\t"
      "bar.red.or.pred any, %1, %2, vote;\n\t"
      "selp.u32 %0, 1, 0, any;\n\t}"
      : "=r"(any)
      : "r"(id), "r"(threads), "r"(static_cast<unsigned>(vote))
      : "memory");
  // Warp-uniform; the shuffle tells the compiler so.
  return __shfl_sync(0xffffffffu, any, 0) != 0;
}

__device__ __forceinline__ unsigned cluster_block_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// threads: all of all blocks of the cluster
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

// The two halves of cluster_sync(). threads: whole warps, converged
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

#endif
