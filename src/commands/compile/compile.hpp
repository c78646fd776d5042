#pragma once

#include "model/kernel_code.hpp"
#include "model/outcome.hpp"
#include "model/report.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"

namespace fatune {

struct CompiledConfig {
  Result result;  ///< has no outcome
  OutcomeKind status = OutcomeKind::stopped;
  std::string detail;       ///< the reason in one line; empty: none
  std::string log;          ///< NVRTC's
  std::string symbol;       ///< the kernel's name in the module; empty unless compiled
  Problem problem;          ///< the report's, with this configuration's dtype and d_head
  LaunchGeometry geometry;  ///< the launch on that problem
  std::string cubin_file;   ///< the file written; empty: none
  std::string ptx_file;
};

struct CompileReport {
  std::string space;
  std::string family;
  Problem problem;  ///< its constants were compiled in; dtype and d_head are each configuration's
  DeviceLimits device;
  Toolchain toolchain;
  double wall_s = 0.0;
  Coverage coverage;  ///< how many configurations were compiled
  std::vector<CompiledConfig> configs;
};

[[nodiscard]] Fields<CompiledConfig> compile_fields();

/// JSON follows configs/schema/compile.schema.json. Nothing in it was run: measured is false.
[[nodiscard]] Document compile_document(const CompileReport& report);

/// Everything that another program needs to launch the kernel: the record of the launch
/// (model/record_json.hpp), and in "tensors" the q, k, v and o that its arguments refer to.
[[nodiscard]] Json json_launch(const Problem& problem, const LaunchGeometry& geometry);

}  // namespace fatune
