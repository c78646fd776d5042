// The configuration of one kernel and what follows from it, all at compile time.
#ifndef FATUNE_KERNELS_FLASH_SM90_CONFIG_CUH
#define FATUNE_KERNELS_FLASH_SM90_CONFIG_CUH

#include "common/eight_bits.cuh"
#include "common/ptx_tma.cuh"

// The fields of family.json, in order: a profiler prints them in the kernel's name.
struct HopperForwardConfig {
  int dtype;  // 5: FP16, 15: BF16, 24: E4M3, with O of BF16
  int d_head;
  int BLOCK_M;         // query rows per thread block: 64 for each consumer warpgroup
  int BLOCK_N;         // keys per inner step
  int NUM_BUFFERS;     // stages of K, and of V
  int NUM_MMA_WARPS;   // warps of all consumers together
  int NUM_MMA_GROUPS;  // consumer warpgroups
  int variant;         // 0: ws, 1: ws_pp
  bool overlap;        // the next step's scores are computed during this step's softmax
  bool lazy_rescale;   // O is rescaled only when a row's maximum has grown by 2^8
  int query_slots;     // buffers for tiles of Q
  int cluster;         // thread blocks that share K and V
  bool persistent;     // as many thread blocks as the device can hold, else one for each tile
  bool dynamic;        // blocks take tiles from a counter, else each block's tiles are fixed
  bool short_first;    // the step with the last keys has only those keys, else BLOCK_N
  bool split_tail;     // the tiles that would leave a wave unfilled are split over all blocks
  bool pack_gqa;       // a tile has the heads of a group, of fewer queries, else one head
  bool skip_max;       // steps without masks check sums of probabilities, and take no maxima
  bool spare_slot;     // one consumer's Q of the next tile is loaded early; they take turns
};

#ifndef FATUNE_PACKED
#define FATUNE_PACKED 0
#endif
#ifndef FATUNE_KEY_LENGTHS
#define FATUNE_KEY_LENGTHS 0
#endif
#ifndef FATUNE_PAGE_SIZE
#define FATUNE_PAGE_SIZE 0
#endif
#ifndef FATUNE_ROW_HEADS
#define FATUNE_ROW_HEADS 1
#endif
#ifndef FATUNE_IDLE_CONSUMERS
#define FATUNE_IDLE_CONSUMERS 0
#endif
#ifndef FATUNE_SCALE_BLOCK
#define FATUNE_SCALE_BLOCK 0
#endif

// Properties of the problem, from defines that family.json sets; absent ones cost nothing.
// The position of a query is that of its own key: row + seq_len_kv - seq_len.
enum ProblemFlag : bool {
  kCausal = FATUNE_CAUSAL != 0,                      // no key after the query's position
  kRaggedKv = FATUNE_RAGGED_KV != 0,                 // the keys may be no multiple of BLOCK_N
  kRowsWithoutKeys = FATUNE_ROWS_WITHOUT_KEYS != 0,  // the first queries see none
  kWritesLse = FATUNE_LSE != 0,
  kPacked = FATUNE_PACKED != 0,  // sequences have different lengths, and no room between them
  kKeyLengths = FATUNE_KEY_LENGTHS != 0,  // sequences with equal queries have other numbers of keys
  kPaged = FATUNE_PAGE_SIZE > 0,          // K and V are pools of pages
  // Whether a tile of each head has a consumer without queries: at the end or, under a causal mask,
  // at the beginning, where tiles have the fewest keys.
  kIdleConsumers = FATUNE_IDLE_CONSUMERS != 0,
  // Whether more than one thread of the producer's warpgroup has work.
  kProducesInWarps = kPacked || kKeyLengths || kPaged || kEightBits,
  // Rows of V behind a sequence's end may be anything: those of the next one, of its last page, or
  // room for more.
  kClearsValues = kPacked || kKeyLengths || (kPaged && kRaggedKv)
};
// What the L2 should do with tiles of Q and O, which pass through it once, and with those of K and
// V, which other blocks read too.
constexpr L2Policy kPassing = FATUNE_L2_HINTS ? L2Policy::kEvictFirst : L2Policy::kNormal;
constexpr L2Policy kReused = FATUNE_L2_HINTS ? L2Policy::kEvictLast : L2Policy::kNormal;
enum ProblemExtent : int {
  kShortKeys = FATUNE_SHORT_KEYS,    // keys in the step with the last keys; 0: BLOCK_N
  kPageSize = FATUNE_PAGE_SIZE,      // keys of a page; 0: K and V are contiguous
  kRowHeads = FATUNE_ROW_HEADS,      // heads that a query has rows of in a tile: pack_gqa
  kScaleBlock = FATUNE_SCALE_BLOCK,  // positions that share a scale of 8 bits; 0: not in blocks
  kWindow = FATUNE_WINDOW,  // sliding window: query i sees keys with |i - j| < kWindow; 0: all
  kKeysAfter = kCausal || kWindow == 0 ? 0 : kWindow - 1  // most keys after the position
};

// Returns which of a consumer's queries a row belongs to, or which of the heads in its tile.
__device__ __forceinline__ int query_of(int row) { return row / kRowHeads; }
__device__ __forceinline__ int head_of(int row) { return row % kRowHeads; }

// Returns how far apart the queries of two rows are.
__device__ __forceinline__ int queries_between(int row, int other) {
  return kRowHeads == 1 ? other - row : query_of(other) - query_of(row);
}

// Whether intermediates of the steps are written out: debug_dump.cuh.
#ifdef FATUNE_DEBUG_DUMP
constexpr bool kDumps = true;
#else
constexpr bool kDumps = false;
#endif

template <HopperForwardConfig kConfig>
struct Shape {
  static constexpr bool kIsBf16 = kConfig.dtype >= 15;  // O, and what else has 16 bits
  static constexpr bool kPingPong = kConfig.variant == 1;
  static constexpr bool kOverlap = kConfig.overlap;
  static constexpr bool kLazyRescale = kConfig.lazy_rescale;
  static constexpr bool kPersistent = kConfig.persistent;
  static constexpr bool kDynamic = kConfig.dynamic;
  static constexpr bool kSplitTail = kConfig.split_tail && !kDumps;  // dumps are of whole tiles
  static constexpr int kHeadDim = kConfig.d_head;                    // of Q and K
  static constexpr int kBlockM = kConfig.BLOCK_M;
  static constexpr int kBlockN = kConfig.BLOCK_N;
  static constexpr int kStages = kConfig.NUM_BUFFERS;
  static constexpr int kGroups = kConfig.NUM_MMA_GROUPS;
  static constexpr int kQuerySlots = kConfig.query_slots;
  static constexpr int kCluster = kConfig.cluster;
  static constexpr int kTileSlots = 2;  // tiles on their way to the consumers

  static constexpr int kGroupThreads = 128;  // threads of a warpgroup
  static constexpr int kGroupRows = 64;      // query rows of one consumer
  static constexpr int kThreads = kGroupThreads * (kGroups + 1);
  static constexpr int kPanelColumns = kEightBits ? 128 : 64;  // of Q and K: lines of 128 bytes
  static constexpr int kPanels = (kHeadDim + kPanelColumns - 1) / kPanelColumns;  // of Q and K
  // Enumerators leave no trace in the cubin, static members do: with the former, kernels whose
  // dimensions are alike are what they were.
  enum Flag : bool { kSkipMax = kConfig.skip_max, kSpareSlot = kConfig.spare_slot };
  enum Extent : int {
    kHeadDimV = kHeadDim == 192 ? 128 : kHeadDim,                // of V and O
    kPanelsV = (kHeadDimV + kPanelColumns - 1) / kPanelColumns,  // of V
    kPanelsO = (kHeadDimV + 63) / 64,                            // of O, which has 16 bits
    kDepth = kEightBits ? 32 : 16,                               // columns of an instruction's sums
    kScoreDepth = (kHeadDim + kDepth - 1) / kDepth * kDepth,     // what wgmma sums for a score
    kPackedScores = kEightBits ? 4 : 2,                          // probabilities of a register
    // With elements of 8 bits, P V has a column more if an instruction takes it, of values of 1:
    // its sums are those of the rows of P. An instruction's columns are a multiple of 8.
    kSumColumns = kEightBits && kHeadDimV < 256 ? 8 : 0,
    kHandsOnWarps = kEightBits      ? 3
                    : kClearsValues ? 1
                                    : 0,  // for tiles of V that have arrived
    // A query's rows are neighbours, one for each head. Rows at the end that no query fills have a
    // Q of zeros, and are not stored.
    kGroupQueries = kGroupRows / kRowHeads,  // queries of one consumer
    kUsedRows = kGroupQueries * kRowHeads,   // rows of one consumer that a query fills
    kBlockQueries = kConfig.NUM_MMA_GROUPS * kGroupQueries,
    // With the dynamic schedule the consumers of a cluster's blocks have queries in turn: under a
    // causal mask all blocks then see nearly as many keys. Else each block's queries are
    // neighbours.
    kInTurn = kConfig.dynamic && kConfig.cluster > 1,
    kQueriesToConsumer = (kInTurn ? kConfig.cluster : 1) * kGroupQueries,  // a block's next one
    kQueriesToBlock = kInTurn ? kGroupQueries : kBlockQueries,             // the cluster's next one
    // How many parts of 16 columns of Q stay in registers for a tile, so that its steps do not read
    // them from shared memory. With two more, ptxas serialises wgmma.
    kHeldSteps =
        kSpareSlot && kHeadDim == 256 && kBlockN <= 64 && !kSkipMax && !kProducesInWarps ? 6 : 0
  };
  static constexpr int kFirstKeys =
      kShortKeys > 0 ? kShortKeys : kBlockN;      // keys in a tile's first step
  static constexpr int kScores = kBlockN / 2;     // elements of S per thread
  static constexpr int kOutputs = kHeadDimV / 2;  // elements of O per thread

  // Registers per thread after setmaxnreg. The warpgroups' counts add up to at most 512 and are
  // multiples of 8. A producer needs more than 24 with a cluster, with a single stage and the
  // dynamic schedule, with split tiles, and where it has more than one thread. At d_head 256 the
  // consumers need those registers more than split tiles do.
  static constexpr bool kWideProducer = kCluster > 1 || (kDynamic && kStages == 1) ||
                                        (kConfig.split_tail && kHeadDim < 256) || kProducesInWarps;
  static constexpr int kProducerRegisters = kGroups == 1    ? 56
                                            : kGroups == 3  ? 32
                                            : kWideProducer ? 40
                                                            : 24;
  static constexpr int kConsumerRegisters = kGroups == 1    ? 256
                                            : kGroups == 3  ? 160
                                            : kWideProducer ? 232
                                                            : 240;

  static_assert(kBlockM == kGroupRows * kGroups, "a consumer has 64 rows");
  static_assert(kConfig.NUM_MMA_WARPS == 4 * kGroups, "a consumer is a warpgroup");
  static_assert(!kDynamic || kPersistent, "a block takes several tiles");
  static_assert(!kSplitTail || (kPersistent && kCluster == 1), "each block has a part of one tile");
  static_assert(!kSplitTail || !kConfig.short_first, "a part may begin with any step of its tile");
  static_assert(kBlockN % kDepth == 0 && kBlockN <= 256, "what wgmma takes");
  static_assert(kFirstKeys % kDepth == 0 && kFirstKeys <= kBlockN, "what wgmma takes");
  static_assert(kEightBits == (kConfig.dtype == 24), "FATUNE_EIGHT_BITS");
  static_assert(!kEightBits || (kCluster == 1 && kRowHeads == 1 && !kDumps && kHeadDimV % 64 == 0),
                "what transposed_values.cuh and eight_bit_consumer.cuh take");
  static_assert(!kEightBits || !kSplitTail || !kWritesLse, "a part of a tile has one sum of a row");
  static_assert(!kSkipMax || (kOverlap && kLazyRescale), "the first step takes its maxima");
  static_assert(!kSpareSlot || (kOverlap && kPersistent && kQuerySlots == 1 && kGroups > 1),
                "consumers take a slot of Q in turn, tile after tile");
  static_assert(kShortKeys == 0 || kOverlap, "steps that do not overlap are all alike");
  static_assert(!(kPacked || kKeyLengths) ||
                    (kCluster == 1 && !kConfig.split_tail && kShortKeys == 0),
                "sequences have different steps");
  static_assert(!kPaged || (kCluster == 1 && !kConfig.split_tail), "one warp loads whole tiles");
  static_assert(kHeadDim % 8 == 0 && kHeadDimV % 8 == 0, "what wgmma and TMA take");
  static_assert(kHeadDimV <= kHeadDim, "O is stored from the memory of Q");
  static_assert(kRowHeads == 1 || (kConfig.pack_gqa && kRowHeads <= kGroupRows),
                "a consumer has all heads of a query");
  static_assert(kRowHeads == 1 || !kDumps, "dumps are of one head");
};

#endif
