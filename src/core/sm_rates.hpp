#pragma once

#include <optional>

#include "core/members.hpp"

namespace fatune {

/// The work that one SM sustains per clock, pipe by pipe, from configs/devices/*.json. The greatest
/// rate of the tensor cores on paper is another thing: core/device_peaks.hpp.
struct SmRates {
  double mma_sync_flop = 0.0;          ///< dense 16-bit mma.sync, fp32 accumulation
  std::optional<double> wgmma_flop{};  ///< the same by wgmma, where there is wgmma
  double fp32_operations = 0.0;
  double integer_operations = 0.0;
  double exponentials = 0.0;
  double smem_bytes = 0.0;
  double l1_bytes = 0.0;  ///< of spills and global memory
  double issued_warp_instructions = 0.0;
};
FATUNE_MEMBERS(SmRates, mma_sync_flop, wgmma_flop, fp32_operations, integer_operations,
               exponentials, smem_bytes, l1_bytes, issued_warp_instructions)

}  // namespace fatune
