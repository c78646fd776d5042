#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/members.hpp"

namespace fatune {

class FileTree;

/// A real GPU architecture: sm_80, sm_90a.
struct Arch {
  int sm = 0;          ///< 10 * major + minor: 80, 86, 89, 90, 100
  char suffix = '\0';  ///< 'a' for architecture-specific features, else '\0'

  auto operator<=>(const Arch&) const = default;
};

/// The oldest architecture that fatune's own kernels run on.
inline constexpr Arch kOldestArch{80, '\0'};
/// The first whose GPUs have features that only code for a name with the suffix 'a' may use.
inline constexpr int kFirstSuffixSm = 90;

/// True if code for `least` runs on `arch`: `arch` is not older, or, if `least` has a suffix, both
/// are equal.
[[nodiscard]] inline bool provides(Arch arch, Arch least) {
  return least.suffix == '\0' ? arch.sm >= least.sm : arch == least;
}

/// Reads "sm_90a", "90a", "9.0", "sm_80". Throws Error(usage) for anything else, for architectures
/// below sm_80, and for a suffix below kFirstSuffixSm.
[[nodiscard]] Arch parse_arch(std::string_view text);
[[nodiscard]] std::string arch_name(Arch arch);          ///< "sm_90a"
[[nodiscard]] std::string virtual_arch_name(Arch arch);  ///< "compute_90a", for PTX

/// The limits and properties of a GPU: read from the driver, or from configs/devices/*.json for an
/// architecture that is not in this machine.
struct DeviceLimits {
  std::string name;  ///< "NVIDIA H200"; for an offline architecture "sm_90 (no GPU)"
  std::string uuid;
  Arch arch;
  int sm_count = 0;
  int max_threads_per_block = 0;
  int max_threads_per_sm = 0;
  int max_blocks_per_sm = 0;
  int registers_per_sm = 0;
  int registers_per_block = 0;
  int max_registers_per_thread = 255;
  std::int64_t smem_per_block_optin_bytes = 0;
  std::int64_t smem_per_sm_bytes = 0;
  std::int64_t smem_reserved_per_block_bytes = 1024;
  std::int64_t l2_bytes = 0;
  std::int64_t total_memory_bytes = 0;
  std::int64_t free_memory_bytes = 0;
  int clock_khz = 0;
  double memory_gbps = 0.0;
};
FATUNE_DESCRIBED(
    DeviceLimits, (name, "the driver's name for the GPU"),
    (uuid, "UUID of the GPU, GPU-...; empty for an architecture without a GPU"),
    (arch, "architecture that kernels are compiled for"),
    (sm_count, "number of streaming multiprocessors (SMs)"),
    (max_threads_per_block, "largest number of threads in a thread block"),
    (max_threads_per_sm, "largest number of resident threads on an SM"),
    (max_blocks_per_sm, "largest number of resident thread blocks on an SM"),
    (registers_per_sm, "number of 32-bit registers of an SM"),
    (registers_per_block, "largest number of 32-bit registers of a thread block"),
    (max_registers_per_thread, "largest number of 32-bit registers of a thread"),
    (smem_per_block_optin_bytes,
     "largest shared memory that a thread block can have, in bytes, dynamic and static"),
    (smem_per_sm_bytes, "size of the shared memory of an SM in bytes"),
    (smem_reserved_per_block_bytes,
     "shared memory that the driver takes for each thread block, in bytes"),
    (l2_bytes, "size of the L2 cache in bytes"),
    (total_memory_bytes, "size of the device memory in bytes"),
    (free_memory_bytes,
     "free device memory in bytes when the GPU was queried; 0 for an architecture without a GPU"),
    (clock_khz, "highest SM clock in kHz"),
    (memory_gbps, "peak device-memory bandwidth in 10^9 bytes per second"))

/// Thread blocks per SM that registers, shared memory and thread slots allow; 0: the kernel cannot
/// be launched. Registers are allocated 256 per warp at a time, shared memory in granules of 128
/// bytes.
/// Source: CUDA occupancy calculator's rules for compute capability 8.x and 9.0.
[[nodiscard]] int blocks_per_sm(const DeviceLimits& limits, int threads_per_block,
                                int registers_per_thread, std::int64_t smem_bytes);

/// "nvidia-h200" for "NVIDIA H200": a GPU's name as part of a file's name.
[[nodiscard]] std::string file_name_part(std::string_view device_name);

/// The GPU of that name or, if there is none, the only one whose name has it as a part; absent:
/// there is none. Case and punctuation do not count: "h100" is part of "NVIDIA H100 80GB HBM3".
/// Throws Error(usage), which lists the names and says where `wanted` is from, if several have it.
[[nodiscard]] std::optional<DeviceLimits> find_device(const std::vector<DeviceLimits>& devices,
                                                      std::string_view wanted,
                                                      const std::string& where);

/// The GPU with the architecture of `device` whose number of SMs is closest; absent: there is none.
[[nodiscard]] std::optional<DeviceLimits> nearest_device(const std::vector<DeviceLimits>& devices,
                                                         const DeviceLimits& device);

/// The peak dense 16-bit FLOP per clock of one SM's tensor cores, with any instruction: NVIDIA's
/// peak figures divided by SMs and clock. Nothing if the architecture is not known.
[[nodiscard]] std::optional<double> nominal_tensor_flop_per_clock(Arch arch);

/// nominal_tensor_flop_per_clock(), or its greatest known value for an unknown architecture.
[[nodiscard]] double peak_tensor_flop_per_clock(Arch arch);

/// The peak FLOP per microsecond of all SMs at the greatest clock; 0 if the limits do not tell.
[[nodiscard]] inline double peak_tensor_flop_per_us(const DeviceLimits& limits) {
  return peak_tensor_flop_per_clock(limits.arch) * limits.sm_count * (limits.clock_khz / 1e3);
}

/// The measured rate at which a GPU multiplies dense matrices of 16-bit elements.
struct MatmulRate {
  double tflops = 0.0;
  double sm_mhz = 0.0;
};
FATUNE_DESCRIBED(MatmulRate, (tflops, "10^12 FLOP per second"),
                 (sm_mhz, kOrNull, "SM clock in MHz during the measurement; null: not known"))

/// The measured rate at which kernels read a GPU's memory.
struct MemoryRate {
  double read_gb_per_s = 0.0;
};
FATUNE_DESCRIBED(MemoryRate, (read_gb_per_s, "10^9 bytes per second"))

/// What a GPU reaches at most, as measured.
struct DeviceRates {
  MatmulRate matmul;
  std::optional<MemoryRate> memory;  ///< empty: too little memory was free
};
FATUNE_MEMBERS(DeviceRates, matmul, memory)

/// The work that one SM sustains per clock in each pipe, from configs/devices/*.json. For the
/// nominal peak rate of the tensor cores see nominal_tensor_flop_per_clock().
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

/// What the GPU's management library (NVML) reported at a sample. Values that it did not report are
/// 0.
struct GpuReading {
  double sm_mhz = 0.0;
  double power_w = 0.0;
  double temperature_c = 0.0;
  /// NVML's clocks event ("throttle") reasons as bits: those of this reading and of all readings
  /// since the last sample.
  std::uint32_t clock_limits = 0;

  auto operator<=>(const GpuReading&) const = default;
};
FATUNE_DESCRIBED(
    GpuReading, (sm_mhz, kOrNull, "SM clock in MHz"), (power_w, kOrNull, "power draw in watts"),
    (temperature_c, kOrNull, "temperature in degrees Celsius"),
    (clock_limits,
     "NVML's reasons for lower clocks, as bits: those in force at the reading or since "
     "the last sample"))

/// True if something that is not always present holds the clocks down: any reason except idle, the
/// applications' clocks setting, the display clock and the (software) power cap.
[[nodiscard]] bool is_throttled(const GpuReading& reading);

/// NVML's name of the (software) power cap.
inline constexpr std::string_view kPowerCapName = "sw_power_cap";

/// NVML's names in the order of their bits: "sw_power_cap", "hw_slowdown", ... Unknown bits are
/// "0x200" and so on.
[[nodiscard]] std::vector<std::string> clock_limit_names(std::uint32_t clock_limits);

/// Loads the limits of a representative GPU of `arch` from configs/devices/sm_<number>.json, for
/// planning, compiling and estimating without it. `name` is "sm_90 (no GPU)"; `arch` is the
/// requested one. Error(usage) lists the known architectures if there is no such file.
[[nodiscard]] DeviceLimits load_device_limits(const FileTree& tree, Arch arch);

/// The product name of that GPU: "NVIDIA H200 SXM". Throws as load_device_limits() does.
[[nodiscard]] std::string device_product(const FileTree& tree, Arch arch);

/// Loads what an SM of `arch` does per clock, from the same files. An architecture without a file
/// has the rates of the nearest older one that has a file. Error(usage) as above if there is none.
[[nodiscard]] SmRates load_sm_rates(const FileTree& tree, Arch arch);

/// Architectures with a device file, oldest first.
[[nodiscard]] std::vector<Arch> known_archs(const FileTree& tree);

}  // namespace fatune
