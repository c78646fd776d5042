#include "emulate/execution.hpp"

#include <algorithm>
#include <bit>

namespace fatune::emulate {
namespace {

std::uint32_t threads_of(const LaunchSetup& setup) {
  return setup.block[0] * setup.block[1] * setup.block[2];
}

int warps_of(const LaunchSetup& setup) {
  return static_cast<int>((threads_of(setup) + kLanes - 1) / kLanes);
}

/// Fills the registers that the system provides.
class SpecialRegisters {
 public:
  SpecialRegisters(const Program& program, const LaunchSetup& setup, std::uint32_t block,
                   const Warp& warp)
      : program_(program), setup_(setup), block_(block), warp_(warp) {}

  void fill() {
    using enum SpecialRegister;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto at = [&](SpecialRegister first) {
        return static_cast<SpecialRegister>(static_cast<std::size_t>(first) + axis);
      };
      set(at(tid_x),
          [&](std::uint32_t lane) { return coordinate(thread(lane), setup_.block, axis); });
      set(at(ntid_x), [&](std::uint32_t) { return setup_.block[axis]; });
      set(at(ctaid_x), [&](std::uint32_t) { return coordinate(block_, setup_.grid, axis); });
      set(at(nctaid_x), [&](std::uint32_t) { return setup_.grid[axis]; });
    }
    set(laneid, [](std::uint32_t lane) { return lane; });
    set(warpid, [&](std::uint32_t) { return static_cast<std::uint32_t>(warp_.index); });
    set(nwarpid, [&](std::uint32_t) { return static_cast<std::uint32_t>(warps_of(setup_)); });
    set(lanemask_eq, [](std::uint32_t lane) { return 1U << lane; });
    set(lanemask_le, [](std::uint32_t lane) { return (2U << lane) - 1; });
    set(lanemask_lt, [](std::uint32_t lane) { return (1U << lane) - 1; });
    set(lanemask_ge, [](std::uint32_t lane) { return ~((1U << lane) - 1); });
    set(lanemask_gt, [](std::uint32_t lane) { return ~((2U << lane) - 1); });
    set(dynamic_smem_size, [&](std::uint32_t) { return setup_.dynamic_smem_bytes; });
    set(total_smem_size,
        [&](std::uint32_t) { return program_.dynamic_shared_offset + setup_.dynamic_smem_bytes; });
  }

 private:
  [[nodiscard]] std::uint32_t thread(std::uint32_t lane) const {
    return static_cast<std::uint32_t>(warp_.index * kLanes) + lane;
  }
  static std::uint32_t coordinate(std::uint32_t linear, const std::array<std::uint32_t, 3>& extent,
                                  std::size_t axis) {
    return axis == 0   ? linear % extent[0]
           : axis == 1 ? linear / extent[0] % extent[1]
                       : linear / extent[0] / extent[1];
  }
  template <typename Value>
  void set(SpecialRegister which, Value value) {
    auto* const to = warp_.registers.at<std::uint32_t>(
        program_.special_registers + static_cast<std::uint32_t>(which) * kLanes * 4);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      to[lane] = value(lane);
    }
  }

  const Program& program_;
  const LaunchSetup& setup_;
  std::uint32_t block_;
  const Warp& warp_;
};

Warp make_warp(const Program& program, const LaunchSetup& setup, std::uint32_t block, int index) {
  Warp warp;
  warp.index = index;
  const std::uint32_t threads = threads_of(setup) - static_cast<std::uint32_t>(index * kLanes);
  warp.threads = threads >= kLanes ? kAllLanes : (Mask{1} << threads) - 1;
  warp.alive = warp.threads;
  warp.registers = LaneStorage(program.register_bytes);
  warp.predicates.resize(program.predicates);
  warp.groups.push_back({0, warp.threads, Group::State::runnable, 0});
  warp.local.resize(std::size_t{program.local_bytes} * kLanes);
  warp.clock.set(index, 1);
  SpecialRegisters(program, setup, block, warp).fill();
  return warp;
}

}  // namespace

Execution::Execution(const Program& the_program, GlobalMemory& the_global,
                     const LaunchSetup& the_setup, LaunchResult& the_result,
                     std::uint32_t the_block)
    : program(the_program),
      global(the_global),
      setup(the_setup),
      result(the_result),
      block(the_block),
      shared(std::size_t{the_program.dynamic_shared_offset} + the_setup.dynamic_smem_bytes,
             warps_of(the_setup)),
      random(the_setup.schedule.seed * 0x9e3779b97f4a7c15U + the_block) {
  for (int i = 0; i < warps_of(setup); ++i) {
    warps.push_back(make_warp(program, setup, block, i));
  }
}

std::uint32_t Execution::threads_alive() const {
  std::uint32_t count = 0;
  for (const Warp& warp : warps) {
    count += static_cast<std::uint32_t>(std::popcount(warp.alive));
  }
  return count;
}

}  // namespace fatune::emulate
