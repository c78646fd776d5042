#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/memory/tensor_map.hpp"
#include "emulator/values/matrix_product.hpp"

// A kernel of one warpgroup: TMA brings A and B into shared memory, wgmma multiplies them. It runs
// on the emulator and on a GPU.
namespace fatune::hopper {

struct ProductCase {
  std::uint32_t columns = 64;  ///< N
  emulate::Swizzle swizzle = emulate::Swizzle::bytes_128;
  emulate::Factor a = emulate::Factor::f16;
  emulate::Factor b = emulate::Factor::f16;
  bool half_sums = false;
  bool a_in_registers = false;
  bool a_is_mn_major = false;
  bool b_is_mn_major = false;
  bool negates_a = false;
  bool immediate_scale = false;  ///< scale-d is 0 or 1, not a predicate
  bool random = false;  ///< elements of many magnitudes: sums depend on how they are rounded

  [[nodiscard]] std::string name() const;
};

/// Every swizzle and major, A from shared memory and from registers, all types, narrow and wide.
/// Where B is MN-major and N is no multiple of the panel width, zeros fill the last panel.
[[nodiscard]] std::vector<ProductCase> product_cases();
/// The same for 8-bit floats: every pair of types, narrow and wide, and every swizzle.
[[nodiscard]] std::vector<ProductCase> fp8_product_cases();
/// Some products with random elements.
[[nodiscard]] std::vector<ProductCase> random_product_cases();

inline constexpr std::uint32_t kThreads = 128;
inline constexpr std::uint32_t kRows = 64;       ///< M
inline constexpr std::uint32_t kRowBytes = 128;  ///< K: four instructions

/// K in elements: 64 or 128.
[[nodiscard]] std::uint32_t depth_of(const ProductCase& c);

/// Places in the input buffer, in bytes; the buffer is at a multiple of 256.
inline constexpr std::uint32_t kMapA = 0;
inline constexpr std::uint32_t kMapB = 128;
inline constexpr std::uint32_t kDataA = 1024;
inline constexpr std::uint32_t kDataB = kDataA + kRows * kRowBytes;
inline constexpr std::uint32_t kInputBytes = kDataB + 256 * kRowBytes;

/// "k(.param .u64 in, .param .u64 out)". Thread t stores its sums to out + t * sums * 4.
[[nodiscard]] std::string product_kernel(const ProductCase& c);
/// 32-bit registers of each thread.
[[nodiscard]] std::uint32_t sums_of(const ProductCase& c);

/// The members of the tensor maps of A and of B, for a buffer at `address`.
[[nodiscard]] std::array<emulate::TensorMap, 2> product_maps(const ProductCase& c,
                                                             std::uint64_t address);
/// The bytes from kDataA on: small integers, whose sums are exact in any order, or random numbers.
[[nodiscard]] std::vector<std::uint8_t> product_data(const ProductCase& c);
/// The registers of thread t from element t * sums_of(c) on. Precondition: the elements are not
/// random.
[[nodiscard]] std::vector<std::uint32_t> expected_sums(const ProductCase& c);

}  // namespace fatune::hopper
