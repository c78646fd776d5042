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
  int Q_mma_load_K_tiles;  // number of 8-element tiles along k; 0: the whole block at once
  int K_mma_load_K_tiles;
  int V_mma_load_K_tiles;
  bool mma_double_buffer_loads;
  bool optimized_softmax;
};

#ifndef FATUNE_PACKED
#define FATUNE_PACKED 0
#endif

// Problem facts that family.json turns into defines; a problem pays for none that it does not have.
// The position of a query is that of its own key: row + seq_len_kv - seq_len.
inline constexpr int kRowStride = FATUNE_ROW_STRIDE;  // elements between neighbouring rows of Q, O
inline constexpr bool kRaggedQ = FATUNE_RAGGED_Q;     // seq_len is no multiple of B_r
inline constexpr bool kRaggedKV = FATUNE_RAGGED_KV;   // seq_len_kv is no multiple of B_c
inline constexpr bool kCausal = FATUNE_CAUSAL;        // no key after the query's position

// Rarer properties of problems. They are enumerators because NVRTC makes a variable in device
// memory of each constant, in the modules of all other problems too.
enum ProblemFlag : bool {
  kHeadsFirst = FATUNE_HEADS_FIRST != 0,  // tensors are (batch, heads, seq_len, d_head)
  kPacked = FATUNE_PACKED != 0,  // sequences have different lengths, and no room between them
  kOtherKvLength = FATUNE_OTHER_KV_LENGTH != 0 || kPacked,  // seq_len_kv is not seq_len
  kRowsWithoutKeys = FATUNE_ROWS_WITHOUT_KEYS != 0,         // the first queries see none
  kWritesLse = FATUNE_LSE != 0
};
enum ProblemExtent : int {
  kGroup = FATUNE_GROUP > 0 ? FATUNE_GROUP : 1,  // query heads per head of K and V
  kKvRowStride = kHeadsFirst ? FATUNE_ROW_STRIDE : FATUNE_ROW_STRIDE / kGroup,  // stride of K and V
  kWindow = FATUNE_WINDOW,  // sliding window: query i sees keys with |i - j| < kWindow; 0: all
  kKeysAfter = kCausal || kWindow == 0 ? 0 : kWindow - 1  // most keys after the position
};

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
  // How many chunks a swizzle permutes among themselves, and how many neighbouring rows it permutes
  // alike (smem_layout.cuh).
  enum Swizzle : int {
    kSwizzleChunks = kRowBytes % 128 == 0 ? 8 : 4,
    kSwizzleShift = kSwizzleChunks == 8 ? 0 : 1
  };
  static constexpr int kBytesQ = kBlockM * kRowBytes;
  static constexpr int kBytesKV = kBlockN * kRowBytes;

  // k16 steps whose operands are loaded together; two 8-element tiles are one step.
  static constexpr bool kQResident = kConfig.Q_mma_load_K_tiles == 0;
  static constexpr int kQkStepsPerLoad =
      kConfig.K_mma_load_K_tiles == 0 ? kQkSteps : kConfig.K_mma_load_K_tiles / 2;
  static constexpr int kPvStepsPerLoad =
      kConfig.V_mma_load_K_tiles == 0 ? kPvSteps : kConfig.V_mma_load_K_tiles / 2;
  // If one load brings the whole block, there is nothing to double-buffer.
  static constexpr int kQkBuffers =
      kConfig.mma_double_buffer_loads && kQkStepsPerLoad < kQkSteps ? 2 : 1;
  static constexpr int kPvBuffers =
      kConfig.mma_double_buffer_loads && kPvStepsPerLoad < kPvSteps ? 2 : 1;

  // A row that has seen no key yet can be masked as a whole within one KV tile only below these
  // conditions.
  static constexpr bool kRowMayBeMasked = kWindow > 0 ||
                                          (kCausal && (kBlockM > kBlockN || kOtherKvLength));

  static_assert(kWarpRows % 16 == 0, "rows per warp must be a multiple of 16");
  static_assert(kQkSteps % kQkStepsPerLoad == 0 && kPvSteps % kPvStepsPerLoad == 0,
                "loads must divide the block");
  static_assert(kQResident || kConfig.Q_mma_load_K_tiles == kConfig.K_mma_load_K_tiles,
                "Q is consumed in step with K");
  static_assert(kRowBytes % (16 * kSwizzleChunks) == 0, "lines of a swizzle must fill the row");
};

#endif
