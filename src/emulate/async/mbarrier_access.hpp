#pragma once

#include <string>

#include "emulate/execution.hpp"
#include "emulate/memory/memory_access.hpp"

namespace fatune::emulate {

/// The mbarrier that an instruction names, and where it is.
struct MbarrierPlace {
  Mbarrier* mbarrier = nullptr;
  SharedPlace place;

  explicit operator bool() const { return mbarrier != nullptr; }
};

/// Nothing, and a finding that ends the kernel, when there is none. That its initialisation has
/// been seen is checked too.
[[nodiscard]] MbarrierPlace find_mbarrier(const Actor& by, std::uint64_t address, Space space);

/// Describes what a polling lane waits for: "for the mbarrier at shared memory + 8, whose phase 1
/// waits for 1 of 1 arrivals and 64 bytes".
[[nodiscard]] std::string describe_polling(const Actor& by);

/// Whether all have arrived at the mbarrier that a lane polls, and only its bytes are wrong.
[[nodiscard]] bool lacks_only_bytes(const Actor& by);

/// Reports what has gone wrong, if anything, and ends the kernel.
void report_misuse(const Actor& by, const MbarrierFault& fault);

}  // namespace fatune::emulate
