#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "emulator/warp.hpp"

// What wgmma demands of a kernel: PTX ISA 9.0, section 9.7.15. All four warps of a warpgroup must
// execute the same wgmma.mma_async. Its registers (the sums, and A if it is in registers) must not
// be accessed until the product is waited for. Writes by other instructions need a wgmma.fence
// before the product.
namespace fatune::emulate {

class Execution;
struct Executing;

inline constexpr std::size_t kWarpgroup = 4;

/// The products that some, but not all, warps of a warpgroup have issued.
class WarpgroupTrace {
 public:
  /// Records a product of the warp. Returns the product that others have issued in its place, or
  /// `product` if the warp is the first.
  IssuedProduct issue(std::size_t warp, const IssuedProduct& product);
  void end(std::size_t warp) { ended_[warp] = true; }
  /// True if some warp of the warpgroup has ended without issuing this warp's last product.
  [[nodiscard]] bool left_alone(std::size_t warp) const;
  /// The next product that others have issued and this warp has not; null: none.
  [[nodiscard]] const IssuedProduct* next(std::size_t warp) const;

 private:
  std::deque<IssuedProduct> products_;
  std::uint64_t first_ = 0;  ///< number of the first of `products_`
  std::array<std::uint64_t, kWarpgroup> issued_{};
  std::array<bool, kWarpgroup> ended_{};
};

/// Records a product. Reports it if the rest of the warpgroup does not issue the same one.
void trace_product(const Executing& at, const AsyncProduct& product);
/// Records that a warp has ended. Reports a product that it leaves to the others.
void trace_end(Execution& x, Warp& warp);

/// Checks an instruction's use of watched registers (see Program::watched_uses). Reports accesses
/// that come too early, and records writes. Precondition: instruction.watched >= 0.
void check_watched(const Executing& at);
/// Marks the registers that a newly issued product may access from now on.
void watch_issued(const Execution& x, Warp& warp, const AsyncProduct& product);
/// Keeps only the marks of products that are still pending, after a wait for others.
void watch_pending(const Execution& x, Warp& warp);
/// wgmma.fence: orders earlier writes before later products.
void fence_watched(Warp& warp);

}  // namespace fatune::emulate
