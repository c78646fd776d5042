#pragma once

#include <string>

#include "emulate/execution.hpp"
#include "emulate/memory/memory_access.hpp"

namespace fatune::emulate {

/// The mbarrier that an instruction names, and its location.
struct MbarrierPlace {
  Mbarrier* mbarrier = nullptr;
  SharedPlace place;

  explicit operator bool() const { return mbarrier != nullptr; }
};

/// Finds an mbarrier. If there is none, reports a finding that ends the kernel and returns an empty
/// place. Also checks that the access is ordered after the mbarrier's initialisation.
[[nodiscard]] MbarrierPlace find_mbarrier(const Actor& by, std::uint64_t address, Space space);

/// Describes what a polling lane waits for: "for the mbarrier at shared memory + 8, whose phase 1
/// waits for 1 of 1 arrivals and 64 bytes".
[[nodiscard]] std::string describe_polling(const Actor& by);

/// True if the mbarrier that a lane polls has all its arrivals, and only its bytes are wrong.
[[nodiscard]] bool lacks_only_bytes(const Actor& by);

/// Reports a fault and ends the kernel. Does nothing if the fault is empty.
void report_misuse(const Actor& by, const MbarrierFault& fault);

}  // namespace fatune::emulate
