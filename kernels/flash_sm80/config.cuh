// The configuration of one kernel and what follows from it, all at compile time.
#ifndef FATUNE_KERNELS_FLASH_SM80_CONFIG_CUH
#define FATUNE_KERNELS_FLASH_SM80_CONFIG_CUH

// The thirteen fields of family.json, in order: a profiler prints them in the kernel's name.
struct FlashForwardKernelConfig {
  int dtype;  // 5: FP16, 15: BF16
  int d_head;
  int B_r;  // query rows per thread block
  int B_c;  // keys per inner step
  int n_warps;
  bool async_copy;
  bool eager_load_blocks;
  bool swizzled;
  int Q_mma_load_K_tiles;  // in 8-element tiles along k; 0: the whole block at once
  int K_mma_load_K_tiles;
  int V_mma_load_K_tiles;
  bool mma_double_buffer_loads;
  bool optimized_softmax;
};

// Problem facts that family.json turns into defines; an aligned, non-causal problem pays for none.
inline constexpr int kRowStride = FATUNE_ROW_STRIDE;  // elements between neighbouring positions
inline constexpr bool kRaggedQ = FATUNE_RAGGED_Q;     // seq_len is no multiple of B_r
inline constexpr bool kRaggedKV = FATUNE_RAGGED_KV;   // seq_len is no multiple of B_c
inline constexpr bool kCausal = FATUNE_CAUSAL;

template <FlashForwardKernelConfig kConfig>
struct Shape {
  static constexpr bool kIsBf16 = kConfig.dtype == 15;
  static constexpr bool kSwizzled = kConfig.swizzled;
  static constexpr int kHeadDim = kConfig.d_head;
  static constexpr int kBlockM = kConfig.B_r;
  static constexpr int kBlockN = kConfig.B_c;
  static constexpr int kThreads = 32 * kConfig.n_warps;

  static constexpr int kWarpRows = kBlockM / kConfig.n_warps;
  static constexpr int kRowTiles = kWarpRows / 16;  // 16-row mma tiles of one warp
  static constexpr int kKeyTiles = kBlockN / 8;     // 8-column mma tiles of S
  static constexpr int kDimTiles = kHeadDim / 8;    // 8-column mma tiles of O
  static constexpr int kQkSteps = kHeadDim / 16;    // k16 steps of S = Q K^T
  static constexpr int kPvSteps = kBlockN / 16;     // k16 steps of O += P V

  static constexpr int kRowBytes = 2 * kHeadDim;
  static constexpr int kChunksPerRow = kRowBytes / 16;
  static constexpr int kBytesQ = kBlockM * kRowBytes;
  static constexpr int kBytesKV = kBlockN * kRowBytes;

  // k16 steps whose operands are loaded together; two 8-element tiles are one step.
  static constexpr bool kQResident = kConfig.Q_mma_load_K_tiles == 0;
  static constexpr int kQkStepsPerLoad =
      kConfig.K_mma_load_K_tiles == 0 ? kQkSteps : kConfig.K_mma_load_K_tiles / 2;
  static constexpr int kPvStepsPerLoad =
      kConfig.V_mma_load_K_tiles == 0 ? kPvSteps : kConfig.V_mma_load_K_tiles / 2;
  // Nothing to double-buffer where one load brings the whole block.
  static constexpr int kQkBuffers =
      kConfig.mma_double_buffer_loads && kQkStepsPerLoad < kQkSteps ? 2 : 1;
  static constexpr int kPvBuffers =
      kConfig.mma_double_buffer_loads && kPvStepsPerLoad < kPvSteps ? 2 : 1;

  // A row can be masked as a whole within one KV tile only below these conditions.
  static constexpr bool kRowMayBeMasked = kCausal && kBlockM > kBlockN;

  static_assert(kWarpRows % 16 == 0, "rows per warp must be a multiple of 16");
  static_assert(kQkSteps % kQkStepsPerLoad == 0 && kPvSteps % kPvStepsPerLoad == 0,
                "loads must divide the block");
  static_assert(kQResident || kConfig.Q_mma_load_K_tiles == kConfig.K_mma_load_K_tiles,
                "Q is consumed in step with K");
  static_assert(kThreads % (8 * kChunksPerRow) == 0 && kBlockN % (kThreads / kChunksPerRow) == 0,
                "copies must cover whole groups of eight rows");
};

#endif
