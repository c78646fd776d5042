// How the keys and columns of a tile of K or V lie in shared memory.
#ifndef FATUNE_KERNELS_FLASH_DECODE_TILE_LAYOUT_CUH
#define FATUNE_KERNELS_FLASH_DECODE_TILE_LAYOUT_CUH

#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"

// A tile is [panels][keys][columns of a line], as one copy of a step writes it. If a step has
// several pages of eight keys and more, it is [groups of 8 keys][panels][8 keys][columns of a
// line]: all columns of a page are then in one piece, and one copy writes them. Eight lines are
// swizzled alike in both.
template <typename S>
struct TileLayout {
  enum : bool { kInGroups = !S::kLatent && kPageSize >= 8 && kPageSize < S::kStepKeys };
  enum : unsigned {
    kEightLinesBytes = 8 * S::kLineBytes,
    kPanelBytes = kInGroups ? kEightLinesBytes : S::kStepKeys * S::kLineBytes,  // to the next panel
    kEightKeysBytes = kInGroups ? kEightLinesBytes * S::kKvPanels : kEightLinesBytes  // to the next
  };

  enum : int { kChunks = S::kLineBytes / 16 };  // of a line

  // Where 16-byte chunk `chunk` of a panel is; key i has those from kChunks * i on.
  __device__ __forceinline__ static unsigned chunk_offset(int chunk) {
    return kInGroups ? chunk / (8 * kChunks) * kEightKeysBytes + chunk % (8 * kChunks) * 16
                     : 16 * chunk;
  }
};

#endif
