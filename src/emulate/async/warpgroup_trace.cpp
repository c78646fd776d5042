#include "emulate/async/warpgroup_trace.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "emulate/execution.hpp"

namespace fatune::emulate {
namespace {

std::size_t group_of(const Warp& warp) { return static_cast<std::size_t>(warp.index) / kWarpgroup; }
std::size_t place_of(const Warp& warp) { return static_cast<std::size_t>(warp.index) % kWarpgroup; }

WarpgroupTrace& trace_of(Execution& x, const Warp& warp) {
  auto& groups = x.block_of(warp).warpgroups;
  if (group_of(warp) >= groups.size()) {
    groups.resize(group_of(warp) + 1);
  }
  return groups[group_of(warp)];
}

/// False for the last warpgroup of a block whose warps are not a multiple of four.
bool is_whole(Execution& x, const Warp& warp) {
  return (group_of(warp) + 1) * kWarpgroup <= x.warps_of(x.block_of(warp)).size();
}

template <typename Text>
void report(Execution& x, const Warp& warp, const Instruction& instruction, Text text) {
  x.report(FindingKind::divergent_product, warp, instruction, 0, text);
}

}  // namespace

WarpgroupTrace::Product WarpgroupTrace::issue(std::size_t warp, const Product& product) {
  const std::uint64_t number = issued_[warp]++;
  if (number == first_ + products_.size()) {
    products_.push_back(product);
  }
  const Product expected = products_[number - first_];
  for (; first_ < *std::ranges::min_element(issued_); ++first_) {
    products_.pop_front();
  }
  return expected;
}

bool WarpgroupTrace::left_alone(std::size_t warp) const {
  for (std::size_t other = 0; other < kWarpgroup; ++other) {
    if (ended_[other] && issued_[other] < issued_[warp]) {
      return true;
    }
  }
  return false;
}

const WarpgroupTrace::Product* WarpgroupTrace::next(std::size_t warp) const {
  const std::uint64_t number = issued_[warp];
  return number < first_ + products_.size() ? &products_[number - first_] : nullptr;
}

void trace_product(Execution& x, const Warp& warp, const Instruction& instruction,
                   const AsyncProduct& product) {
  if (!is_whole(x, warp)) {
    report(x, warp, instruction, [&] {
      return fmt::format("the block's {} warps leave this warpgroup with fewer than four",
                         x.warps_of(x.block_of(warp)).size());
    });
    return;
  }
  WarpgroupTrace& trace = trace_of(x, warp);
  const WarpgroupTrace::Product own{product.instruction, product.a, product.b, product.accumulates};
  const WarpgroupTrace::Product expected = trace.issue(place_of(warp), own);
  if (trace.left_alone(place_of(warp))) {
    report(x, warp, instruction, [] {
      return std::string("a warp of the warpgroup has ended, and takes no part in this product");
    });
  } else if (expected != own) {
    report(x, warp, instruction, [&] {
      return fmt::format(
          "in its place, another warp of the warpgroup has {}",
          expected.instruction != own.instruction
              ? fmt::format("the instruction at PTX line {}", x.program.lines[expected.instruction])
          : expected.accumulates != own.accumulates
              ? std::string("a different scale-d")
              : fmt::format("descriptors {:#x} and {:#x}, this one has {:#x} and {:#x}", expected.a,
                            expected.b, own.a, own.b));
    });
  }
}

void trace_end(Execution& x, const Warp& warp) {
  const bool multiplies = !x.program.watched_names.empty();
  if (!multiplies || warp.alive != 0) {
    return;
  }
  WarpgroupTrace& trace = trace_of(x, warp);
  trace.end(place_of(warp));
  if (const auto* left = trace.next(place_of(warp))) {
    report(x, warp, x.program.instructions[left->instruction], [&] {
      return fmt::format("warp {} ends, and takes no part in this product of its warpgroup",
                         warp.index);
    });
  }
}

}  // namespace fatune::emulate
