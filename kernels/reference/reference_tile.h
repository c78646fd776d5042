// Tile sizes of the reference kernel, which its launch needs too. Included by the host; no
// includes.
#ifndef FATUNE_KERNELS_REFERENCE_REFERENCE_TILE_H
#define FATUNE_KERNELS_REFERENCE_REFERENCE_TILE_H

inline constexpr int kReferenceThreads = 256;
inline constexpr int kReferenceKeys = 32;         // keys of a tile
inline constexpr int kReferenceLanesPerRow = 16;  // threads that share a row, neighbours in a warp

// Dimensions are dealt to a row's lanes four at a time; the last round may be padding. Rows are
// four floats longer than that, so that lanes that read 16 bytes each from neighbouring rows hit
// every bank equally often.
constexpr int reference_row_stride(int head_dim) {
  constexpr int kRound = 4 * kReferenceLanesPerRow;
  return (head_dim + kRound - 1) / kRound * kRound + 4;
}

inline constexpr int kReferenceProbStride = kReferenceKeys + 4;

constexpr int reference_max(int a, int b) { return a > b ? a : b; }

// Selected rows of a block, all of one (batch, head). Long rows are fewer, so that they fit in
// shared memory, and their sums in registers.
constexpr int reference_rows(int head_dim, int head_dim_v) {
  return reference_max(head_dim, head_dim_v) > 256 ? 32 : 64;
}

// Dynamic shared memory: Q, one tile of K or V, two tiles of probabilities, the selected rows and
// the first and the end of the keys that each sees.
constexpr int reference_shared_bytes(int head_dim, int head_dim_v) {
  const int rows = reference_rows(head_dim, head_dim_v);
  return 4 * (rows * reference_row_stride(head_dim) +
              kReferenceKeys * reference_row_stride(reference_max(head_dim, head_dim_v)) +
              2 * rows * kReferenceProbStride + 3 * rows);
}

#endif
