#include "emit/device_fields.hpp"
#include "record/record_json.hpp"

#include <string>

namespace fatune {
const std::vector<Field<DeviceLimits>>& device_fields() {
  static const std::vector<Field<DeviceLimits>> fields{
      {"name", "name", doc_of<DeviceLimits>("name"), 0, kEverywhere, member<&DeviceLimits::name>,
       ColumnFit{.least = 14}},
      {"uuid", "uuid", doc_of<DeviceLimits>("uuid"), 0, kForPrograms, member<&DeviceLimits::uuid>},
      {"arch", "arch", doc_of<DeviceLimits>("arch"), 0, kEverywhere,
       [](const DeviceLimits& r) { return arch_name(r.arch); }},
      {"sm_count", "SMs", doc_of<DeviceLimits>("sm_count"), 0, kEverywhere,
       member<&DeviceLimits::sm_count>},
      {"clock_khz", "clock kHz", doc_of<DeviceLimits>("clock_khz"), 0, kForPrograms,
       member<&DeviceLimits::clock_khz>},
      {"memory_gbps", "GB/s", doc_of<DeviceLimits>("memory_gbps"), 0, kEverywhere,
       member<&DeviceLimits::memory_gbps>, ColumnFit{.leaves = 5}},
      {"total_memory_bytes", "memory B", doc_of<DeviceLimits>("total_memory_bytes"), 0, kEverywhere,
       member<&DeviceLimits::total_memory_bytes>, ColumnFit{.leaves = 6}},
      {"l2_bytes", "L2 B", doc_of<DeviceLimits>("l2_bytes"), 0, kEverywhere,
       member<&DeviceLimits::l2_bytes>, ColumnFit{.leaves = 4}},
      {"smem_per_block_optin_bytes", "smem/block",
       doc_of<DeviceLimits>("smem_per_block_optin_bytes"), 0, kEverywhere,
       member<&DeviceLimits::smem_per_block_optin_bytes>, ColumnFit{.leaves = 3}},
      {"smem_per_sm_bytes", "smem/SM", doc_of<DeviceLimits>("smem_per_sm_bytes"), 0, kForPrograms,
       member<&DeviceLimits::smem_per_sm_bytes>},
      {"registers_per_sm", "regs/SM", doc_of<DeviceLimits>("registers_per_sm"), 0, kEverywhere,
       member<&DeviceLimits::registers_per_sm>, ColumnFit{.leaves = 1}},
      {"max_threads_per_sm", "threads/SM", doc_of<DeviceLimits>("max_threads_per_sm"), 0,
       kEverywhere, member<&DeviceLimits::max_threads_per_sm>, ColumnFit{.leaves = 2}},
      {"max_threads_per_block", "threads/block", doc_of<DeviceLimits>("max_threads_per_block"), 0,
       kForPrograms, member<&DeviceLimits::max_threads_per_block>},
      {"max_blocks_per_sm", "blocks/SM", doc_of<DeviceLimits>("max_blocks_per_sm"), 0, kForPrograms,
       member<&DeviceLimits::max_blocks_per_sm>},
  };
  return fields;
}

}  // namespace fatune
