#include "emulate/finding.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fatune::emulate {

const char* name_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds:
      return "out_of_bounds";
    case FindingKind::misaligned:
      return "misaligned";
    case FindingKind::uninitialised:
      return "uninitialised";
    case FindingKind::race:
      return "race";
    case FindingKind::in_flight:
      return "in_flight";
    case FindingKind::missing_proxy_fence:
      return "missing_proxy_fence";
    case FindingKind::pending_registers:
      return "pending_registers";
    case FindingKind::missing_wgmma_fence:
      return "missing_wgmma_fence";
    case FindingKind::divergent_product:
      return "divergent_product";
    case FindingKind::divergent_barrier:
      return "divergent_barrier";
    case FindingKind::barrier_misuse:
      return "barrier_misuse";
    case FindingKind::deadlock:
      return "deadlock";
    case FindingKind::pending_at_exit:
      return "pending_at_exit";
    case FindingKind::inactive_lane:
      return "inactive_lane";
    case FindingKind::trap:
      return "trap";
    case FindingKind::assertion:
      return "assertion";
  }
  return "unknown";
}

const char* name_of(AccessKind kind) {
  constexpr std::array kNames{"read", "write", "asynchronous read", "asynchronous write"};
  return kNames.at(static_cast<std::size_t>(kind));
}

const char* check_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds:
    case FindingKind::misaligned:
      return "mem";
    case FindingKind::uninitialised:
      return "init";
    case FindingKind::race:
    case FindingKind::in_flight:
      return "race";
    case FindingKind::missing_proxy_fence:
    case FindingKind::pending_registers:
    case FindingKind::missing_wgmma_fence:
    case FindingKind::divergent_product:
    case FindingKind::divergent_barrier:
    case FindingKind::barrier_misuse:
    case FindingKind::pending_at_exit:
    case FindingKind::inactive_lane:
      return "sync";
    case FindingKind::deadlock:
      return "deadlock";
    case FindingKind::trap:
    case FindingKind::assertion:
      return "trap";
  }
  return "unknown";
}

bool has_two_ends(FindingKind kind) {
  return kind == FindingKind::race || kind == FindingKind::in_flight ||
         kind == FindingKind::missing_proxy_fence;
}

bool FindingLog::count_again(FindingKind kind, std::size_t instruction) {
  const auto found = std::find_if(findings_.begin(), findings_.end(), [&](const Finding& finding) {
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
