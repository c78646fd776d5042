#pragma once

#include <optional>

#include "core/members.hpp"

namespace fatune {

/// The work that one SM sustains per clock in each pipe, from configs/devices/*.json. The nominal
/// peak rate of the tensor cores is in core/device_peaks.hpp.
struct SmRates {
  double mma_sync_flop = 0.0;          ///< dense 16-bit mma.sync, fp32 accumulation
  std::optional<double> wgmma_flop{};  ///< the rate of wgmma; absent: there is no wgmma
  double fp32_operations = 0.0;
  double integer_operations = 0.0;
  double exponentials = 0.0;
  double smem_bytes = 0.0;
  double l1_bytes = 0.0;  ///< the rate of spills and global memory
  double issued_warp_instructions = 0.0;
};
FATUNE_MEMBERS(SmRates, mma_sync_flop, wgmma_flop, fp32_operations, integer_operations,
               exponentials, smem_bytes, l1_bytes, issued_warp_instructions)

}  // namespace fatune
