#include "emit/device_fields.hpp"
#include "record/record_json.hpp"

#include <string>

namespace fatune {
const Fields<DeviceLimits>& device_fields() {
  static const Fields<DeviceLimits> fields{
      {"name", "name", Look{.least = 14}, &DeviceLimits::name},
      {"uuid", "uuid", kProgramsOnly, &DeviceLimits::uuid},
      {"arch", "arch", [](const DeviceLimits& r) { return arch_name(r.arch); }},
      {"sm_count", "SMs", &DeviceLimits::sm_count},
      {"clock_khz", "clock kHz", kProgramsOnly, &DeviceLimits::clock_khz},
      {"memory_gbps", "GB/s", Look{.leaves = 5}, &DeviceLimits::memory_gbps},
      {"total_memory_bytes", "memory B", Look{.leaves = 6}, &DeviceLimits::total_memory_bytes},
      {"l2_bytes", "L2 B", Look{.leaves = 4}, &DeviceLimits::l2_bytes},
      {"smem_per_block_optin_bytes", "smem/block", Look{.leaves = 3},
       &DeviceLimits::smem_per_block_optin_bytes},
      {"smem_per_sm_bytes", "smem/SM", kProgramsOnly, &DeviceLimits::smem_per_sm_bytes},
      {"registers_per_sm", "regs/SM", Look{.leaves = 1}, &DeviceLimits::registers_per_sm},
      {"max_threads_per_sm", "threads/SM", Look{.leaves = 2}, &DeviceLimits::max_threads_per_sm},
      {"max_threads_per_block", "threads/block", kProgramsOnly,
       &DeviceLimits::max_threads_per_block},
      {"max_blocks_per_sm", "blocks/SM", kProgramsOnly, &DeviceLimits::max_blocks_per_sm},
  };
  return fields;
}

}  // namespace fatune
