#pragma once

#include "model/device_limits.hpp"
#include "model/emulation.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"

namespace fatune {

struct EmulateReport {
  std::string family;
  std::string space;  ///< empty when configurations were named
  Arch arch;
  std::string toolchain;
  std::vector<std::string> schedules;
  std::vector<std::string> inputs;
  std::int64_t seed = 0;
  std::vector<std::string> checks;  ///< the checks whose findings count
  Coverage coverage;                ///< how many configurations were emulated
  std::vector<EmulatedConfig> configs;
};

/// Every format that has room for it says that nothing was measured. JSON follows
/// configs/schema/emulate.schema.json. CSV has a row for each configuration, without its findings.
[[nodiscard]] Document emulate_document(const EmulateReport& report);

[[nodiscard]] Fields<EmulatedConfig> emulated_config_fields();
[[nodiscard]] Fields<EmulatedFinding> emulated_finding_fields();
[[nodiscard]] Fields<EmulatedAccess> emulated_access_fields();
[[nodiscard]] Fields<FindingGroup> finding_group_fields();
[[nodiscard]] Fields<EmulatedPart> emulated_part_fields();
[[nodiscard]] Fields<EmulatedLine> emulated_line_fields();

}  // namespace fatune
