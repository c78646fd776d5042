#include "emit/device_fields.hpp"

#include <string>

namespace fatune {
const std::vector<Field<DeviceLimits>>& device_fields() {
  static const std::vector<Field<DeviceLimits>> fields{
      {"name", "name", "the driver's name for the GPU", 0, kEverywhere, member<&DeviceLimits::name>,
       ColumnFit{.least = 14}},
      {"uuid", "uuid", "UUID of the GPU, GPU-...; empty for an architecture without a GPU", 0,
       kForPrograms, member<&DeviceLimits::uuid>},
      {"arch", "arch", "architecture that kernels are compiled for", 0, kEverywhere,
       [](const DeviceLimits& r) { return arch_name(r.arch); }},
      {"sm_count", "SMs", "number of streaming multiprocessors (SMs)", 0, kEverywhere,
       member<&DeviceLimits::sm_count>},
      {"clock_khz", "clock kHz", "highest SM clock in kHz", 0, kForPrograms,
       member<&DeviceLimits::clock_khz>},
      {"memory_gbps", "GB/s", "peak device-memory bandwidth in 10^9 bytes per second", 0,
       kEverywhere, member<&DeviceLimits::memory_gbps>, ColumnFit{.leaves = 5}},
      {"total_memory_bytes", "memory B", "size of the device memory in bytes", 0, kEverywhere,
       member<&DeviceLimits::total_memory_bytes>, ColumnFit{.leaves = 6}},
      {"l2_bytes", "L2 B", "size of the L2 cache in bytes", 0, kEverywhere,
       member<&DeviceLimits::l2_bytes>, ColumnFit{.leaves = 4}},
      {"smem_per_block_optin_bytes", "smem/block",
       "largest shared memory that a thread block can have, in bytes", 0, kEverywhere,
       member<&DeviceLimits::smem_per_block_optin_bytes>, ColumnFit{.leaves = 3}},
      {"smem_per_sm_bytes", "smem/SM", "size of the shared memory of an SM in bytes", 0,
       kForPrograms, member<&DeviceLimits::smem_per_sm_bytes>},
      {"registers_per_sm", "regs/SM", "number of 32-bit registers of an SM", 0, kEverywhere,
       member<&DeviceLimits::registers_per_sm>, ColumnFit{.leaves = 1}},
      {"max_threads_per_sm", "threads/SM", "largest number of resident threads on an SM", 0,
       kEverywhere, member<&DeviceLimits::max_threads_per_sm>, ColumnFit{.leaves = 2}},
      {"max_threads_per_block", "threads/block", "largest number of threads in a thread block", 0,
       kForPrograms, member<&DeviceLimits::max_threads_per_block>},
      {"max_blocks_per_sm", "blocks/SM", "largest number of resident thread blocks on an SM", 0,
       kForPrograms, member<&DeviceLimits::max_blocks_per_sm>},
  };
  return fields;
}

}  // namespace fatune
