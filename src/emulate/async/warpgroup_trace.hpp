#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "emulate/program.hpp"

// All four warps of a warpgroup have to execute the same wgmma.mma_async: PTX ISA 9.0, section
// 9.7.15.5.
namespace fatune::emulate {

class Execution;
struct AsyncProduct;
struct Warp;

inline constexpr std::size_t kWarpgroup = 4;

/// The products that some of a warpgroup's warps have issued, and others have not.
class WarpgroupTrace {
 public:
  /// The properties of a product that must be the same in all four warps.
  struct Product {
    std::uint32_t instruction = 0;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    bool accumulates = false;

    friend bool operator==(const Product&, const Product&) = default;
  };

  /// The product that others have issued in its place; `product` when the warp is the first.
  Product issue(std::size_t warp, const Product& product);
  void end(std::size_t warp) { ended_[warp] = true; }
  /// Whether some warp of the group has ended without the last product of this one.
  [[nodiscard]] bool left_alone(std::size_t warp) const;
  /// The next product that others have issued and this warp has not; null: none.
  [[nodiscard]] const Product* next(std::size_t warp) const;

 private:
  std::deque<Product> products_;
  std::uint64_t first_ = 0;  ///< number of the first
  std::array<std::uint64_t, kWarpgroup> issued_{};
  std::array<bool, kWarpgroup> ended_{};
};

/// Reports a product that the rest of the warpgroup does not issue.
void trace_product(Execution& x, const Warp& warp, const Instruction& instruction,
                   const AsyncProduct& product);
/// Notes that a warp has ended.
void trace_end(Execution& x, const Warp& warp);

}  // namespace fatune::emulate
