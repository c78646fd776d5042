#include "emulate/launch.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fatune::emulate {

namespace {

struct KindText {
  const char* name;
  const char* check;
};
/// Indexed by FindingKind.
constexpr std::array kKinds{KindText{"out_of_bounds", "mem"},
                            KindText{"misaligned", "mem"},
                            KindText{"uninitialised", "init"},
                            KindText{"race", "race"},
                            KindText{"in_flight", "race"},
                            KindText{"missing_proxy_fence", "sync"},
                            KindText{"pending_registers", "sync"},
                            KindText{"missing_wgmma_fence", "sync"},
                            KindText{"divergent_product", "sync"},
                            KindText{"divergent_barrier", "sync"},
                            KindText{"barrier_misuse", "sync"},
                            KindText{"deadlock", "deadlock"},
                            KindText{"pending_at_exit", "sync"},
                            KindText{"inactive_lane", "sync"},
                            KindText{"trap", "trap"},
                            KindText{"assertion", "trap"}};
static_assert(kKinds.size() == static_cast<std::size_t>(FindingKind::assertion) + 1);

}  // namespace

const char* name_of(FindingKind kind) { return kKinds.at(static_cast<std::size_t>(kind)).name; }
const char* check_of(FindingKind kind) { return kKinds.at(static_cast<std::size_t>(kind)).check; }

const char* name_of(AccessKind kind) {
  constexpr std::array kNames{"read", "write", "asynchronous read", "asynchronous write"};
  return kNames.at(static_cast<std::size_t>(kind));
}

bool has_two_ends(FindingKind kind) {
  return kind == FindingKind::race || kind == FindingKind::in_flight ||
         kind == FindingKind::missing_proxy_fence;
}

bool FindingLog::count_again(FindingKind kind, std::size_t instruction) {
  const auto found = std::ranges::find_if(findings_, [&](const Finding& finding) {
    return finding.kind == kind && finding.instruction == instruction;
  });
  if (found == findings_.end()) {
    return false;
  }
  ++found->count;
  return true;
}

void FindingLog::add(Finding finding) {
  if (!count_again(finding.kind, finding.instruction)) {
    findings_.push_back(std::move(finding));
  }
}

}  // namespace fatune::emulate
