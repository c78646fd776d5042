#pragma once

#include <string>
#include <vector>

#include "app/emulated_problem.hpp"
#include "app/options.hpp"
#include "compile/cubin_cache.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "emit/emulate_report.hpp"
#include "emulate/launch.hpp"
#include "plan/family.hpp"

namespace fatune {

struct NamedSchedule {
  std::string name;  ///< "late", "random 2": with its seed
  emulate::Schedule schedule;
};

/// What all configurations of a command share.
struct EmulationJob {
  const Family& family;
  const DeviceLimits& limits;
  std::vector<NamedSchedule> schedules;
  bool checks = true;
  bool profile = false;
  EmulatedProblems& problems;
  CubinCache* cache = nullptr;  ///< may be null
};

/// Compiles a configuration to PTX and runs that on every schedule and input. Whatever is wrong
/// with it, or not covered, is the row's outcome. Safe to call from several threads.
[[nodiscard]] EmulatedConfig emulate_config(const EmulationJob& job, const Config& config,
                                            const Problem& problem);

}  // namespace fatune
