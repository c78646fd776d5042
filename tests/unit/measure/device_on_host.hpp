#pragma once

/// Runs device code on the host. It provides the features of CUDA C++ that C++ lacks and that the
/// measurement kernels need. The threads of a block are fibers on one host thread, which run in
/// turn to their next barrier. So __syncthreads and warp functions work as long as every thread of
/// the block reaches each of them. Include this file once per translation unit, before the device
/// code and outside any namespace.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <utility>

#define __device__
#define __global__
#define __shared__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes)

namespace device_on_host {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

/// Runs `kernel` for every thread of every block, one block after the other.
void run_grid(Index grid, Index block, const std::function<void()>& kernel);
/// Waits until every thread of the block has reached this barrier.
void barrier();
/// Returns the value that thread `partner` has passed to this call.
std::uint32_t exchange(std::uint32_t value, unsigned partner);

inline Index current_thread, current_block, block_extent, grid_extent;

template <typename Combine>
std::uint32_t over_warp(std::uint32_t value, Combine combine) {
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    value = combine(value, exchange(value, current_thread.x ^ distance));
  }
  return value;
}

}  // namespace device_on_host

// CUDA's own names.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
inline device_on_host::Index& threadIdx = device_on_host::current_thread;
inline device_on_host::Index& blockIdx = device_on_host::current_block;
inline device_on_host::Index& blockDim = device_on_host::block_extent;
inline device_on_host::Index& gridDim = device_on_host::grid_extent;

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(8) ushort4 {
  unsigned short x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z,
                            unsigned short w) {
  return {x, y, z, w};
}

using std::isfinite;
using std::max;
using std::min;

inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline float rsqrtf(float value) { return 1.0F / std::sqrt(value); }
inline void sincospif(float turns_of_pi, float* sine, float* cosine) {
  const double angle = std::numbers::pi * static_cast<double>(turns_of_pi);
  *sine = static_cast<float>(std::sin(angle));
  *cosine = static_cast<float>(std::cos(angle));
}
inline void __syncthreads() { device_on_host::barrier(); }
inline void __syncwarp() { device_on_host::barrier(); }
inline float __shfl_xor_sync(unsigned, float value, int distance) {
  return std::bit_cast<float>(device_on_host::exchange(
      std::bit_cast<std::uint32_t>(value), threadIdx.x ^ static_cast<unsigned>(distance)));
}
inline unsigned __reduce_add_sync(unsigned, unsigned value) {
  return device_on_host::over_warp(value, [](unsigned a, unsigned b) { return a + b; });
}
inline unsigned __reduce_max_sync(unsigned, unsigned value) {
  return device_on_host::over_warp(value, [](unsigned a, unsigned b) { return std::max(a, b); });
}
template <typename T>
T atomicAdd(T* total, T value) {
  return std::exchange(*total, *total + value);
}
inline unsigned atomicXor(unsigned* total, unsigned value) {
  return std::exchange(*total, *total ^ value);
}
inline unsigned atomicMax(unsigned* greatest, unsigned value) {
  return std::exchange(*greatest, std::max(*greatest, value));
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
