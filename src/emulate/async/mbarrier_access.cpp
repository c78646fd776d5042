#include "emulate/async/mbarrier_access.hpp"

#include <fmt/format.h>

#include "emulate/async/warpgroup_products.hpp"

namespace fatune::emulate {

namespace {

/// Whether what the instruction waits for is a phase of an mbarrier.
bool polls_mbarrier(const Instruction& instruction) {
  return instruction.flow == Flow::poll && !instruction.waits &&
         instruction.condition != &registers_are_there &&
         instruction.condition != &products_are_issued;
}

std::uint32_t polled_offset(Execution& x, const Warp& warp, const Instruction& instruction,
                            int lane) {
  const auto address =
      static_cast<std::uint32_t>(shared_part(x.address(warp, instruction.operands + 1, lane)));
  return (address & ((1U << kRankShift) - 1)) - kSharedBase;
}

}  // namespace

MbarrierPlace find_mbarrier(Execution& x, const Warp& warp, const Instruction& instruction,
                            int lane, std::uint64_t address, Space space) {
  const SharedPlace place = check_shared(x, warp, instruction, lane,
                                         {space, address, Mbarrier::kBytes, Mbarrier::kBytes});
  if (!place) {
    x.end_by_trap();
    return {};
  }
  Mbarrier* const mbarrier = place.block->mbarriers.find(place.offset);
  if (mbarrier == nullptr) {
    report_misuse(x, warp, instruction, lane,
                  fmt::format("there is no mbarrier at shared memory + {}", place.offset));
    return {};
  }
  if (x.setup.checks.race &&
      !x.accessor(warp, lane, instruction).follows(mbarrier->initialiser())) {
    x.report(FindingKind::race, warp, instruction, lane, [&] {
      const std::string where = fmt::format("shared memory + {}", place.offset);
      return FindingWords{fmt::format("uses the mbarrier at {}, which another thread initialises, "
                                      "with no synchronisation between",
                                      where),
                          where, AccessKind::write,
                          other_access(x, place.block->shared.writer(place.offset))};
    });
  }
  return {mbarrier, place};
}

bool lacks_only_bytes(Execution& x, const Warp& warp, const Instruction& instruction, int lane) {
  if (!polls_mbarrier(instruction)) {
    return false;
  }
  const Mbarrier* const mbarrier =
      x.block_of(warp).mbarriers.find(polled_offset(x, warp, instruction, lane));
  return mbarrier != nullptr && mbarrier->pending() == 0 && mbarrier->pending_bytes() != 0;
}

std::string describe_polling(Execution& x, const Warp& warp, const Instruction& instruction,
                             int lane) {
  if (instruction.condition == &registers_are_there) {
    return describe_awaited_registers(x, warp, instruction);
  }
  if (instruction.condition == &products_are_issued) {
    return "for the other warps of its warpgroup to issue their products";
  }
  if (instruction.waits) {
    return fmt::format("at the cluster's barrier, where {} threads have arrived",
                       x.arrived_at_cluster());
  }
  const std::uint32_t offset = polled_offset(x, warp, instruction, lane);
  const Mbarrier* const mbarrier = x.block_of(warp).mbarriers.find(offset);
  return mbarrier == nullptr
             ? fmt::format("for an mbarrier at shared memory + {} that is there no more", offset)
             : fmt::format("for the mbarrier at shared memory + {}, whose {}", offset,
                           mbarrier->describe());
}

void report_misuse(Execution& x, const Warp& warp, const Instruction& instruction, int lane,
                   const MbarrierFault& fault) {
  if (!fault.empty()) {
    x.report(FindingKind::barrier_misuse, warp, instruction, lane, [&] { return fault; });
    x.end_by_trap();
  }
}

}  // namespace fatune::emulate
