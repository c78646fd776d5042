#include "emulate/async/mbarrier_access.hpp"

#include <fmt/format.h>

#include "emulate/async/warpgroup_products.hpp"

namespace fatune::emulate {

namespace {

/// True if the instruction waits for a phase of an mbarrier.
bool polls_mbarrier(const Instruction& instruction) {
  return instruction.flow == Flow::poll && !instruction.waits &&
         instruction.condition != &registers_are_there &&
         instruction.condition != &products_are_issued;
}

std::uint32_t polled_offset(const Actor& by) {
  const auto address = static_cast<std::uint32_t>(shared_part(by.address(1)));
  return (address & ((1U << kRankShift) - 1)) - kSharedBase;
}

}  // namespace

MbarrierPlace find_mbarrier(const Actor& by, std::uint64_t address, Space space) {
  const SharedPlace place = check_shared(by, {space, address, Mbarrier::kBytes, Mbarrier::kBytes});
  if (!place) {
    by.x.end_by_trap();
    return {};
  }
  Mbarrier* const mbarrier = place.block->mbarriers.find(place.offset);
  if (mbarrier == nullptr) {
    report_misuse(by, fmt::format("there is no mbarrier at shared memory + {}", place.offset));
    return {};
  }
  if (by.x.setup.checks.race && !by.accessor().follows(mbarrier->initialiser())) {
    by.report(FindingKind::race, [&] {
      const std::string where = fmt::format("shared memory + {}", place.offset);
      return FindingWords{fmt::format("uses the mbarrier at {}, which another thread initialises, "
                                      "with no synchronisation in between",
                                      where),
                          where, AccessKind::write,
                          other_access(by.x, place.block->shared.writer(place.offset))};
    });
  }
  return {mbarrier, place};
}

bool lacks_only_bytes(const Actor& by) {
  if (!polls_mbarrier(by.instruction)) {
    return false;
  }
  const Mbarrier* const mbarrier = by.x.block_of(by.warp).mbarriers.find(polled_offset(by));
  return mbarrier != nullptr && mbarrier->pending() == 0 && mbarrier->pending_bytes() != 0;
}

std::string describe_polling(const Actor& by) {
  if (by.instruction.condition == &registers_are_there) {
    return describe_awaited_registers(by.x, by.warp, by.instruction);
  }
  if (by.instruction.condition == &products_are_issued) {
    return "for the other warps of its warpgroup to issue their products";
  }
  if (by.instruction.waits) {
    return fmt::format("at the cluster's barrier, where {} threads have arrived",
                       by.x.arrived_at_cluster());
  }
  const std::uint32_t offset = polled_offset(by);
  const Mbarrier* const mbarrier = by.x.block_of(by.warp).mbarriers.find(offset);
  return mbarrier == nullptr
             ? fmt::format("for an mbarrier at shared memory + {} that no longer exists", offset)
             : fmt::format("for the mbarrier at shared memory + {}, whose {}", offset,
                           mbarrier->describe());
}

void report_misuse(const Actor& by, const MbarrierFault& fault) {
  if (!fault.empty()) {
    by.report(FindingKind::barrier_misuse, [&] { return fault; });
    by.x.end_by_trap();
  }
}

}  // namespace fatune::emulate
