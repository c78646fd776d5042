#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/kernel_code.hpp"
#include "model/outcome.hpp"
#include "model/report.hpp"
#include "print/document/document.hpp"

namespace fatune {

struct ListedConfig {
  std::string short_form;
  std::string kernel_name;
  std::vector<NamedValue> parameters;
  std::optional<double> estimate_us{};  ///< before compilation; absent: no length was given
};
struct ListedDrop {
  std::string short_form;
  std::string rule;
  std::string reason;
  std::vector<NamedValue> parameters{};
};
struct RuleCount {
  std::string rule;
  std::string reason;        ///< why the first configuration was dropped; empty: none was
  std::int64_t dropped = 0;  ///< configurations for which it was the first match
  bool waits = false;        ///< needs a problem or device that is not known, and was not tried
};

/// The report of `list` on a space.
struct PlanReport {
  std::string space;
  std::string family;
  std::vector<ListedConfig> kept;
  std::vector<ListedDrop> pruned;   ///< configurations that the space's rules drop
  std::vector<ListedDrop> invalid;  ///< configurations that the family's validity excludes
  std::vector<RuleCount> rules;     ///< ordered like the rules of the space
  /// The numbers of configurations not listed: the lists of a large space are random samples.
  std::int64_t kept_besides = 0;
  std::int64_t pruned_besides = 0;
  std::int64_t invalid_besides = 0;
  /// The length of the problems on which all rules were tried; absent: rules that need a problem
  /// were not tried.
  std::optional<std::int64_t> seq_len{};
  /// Sentences on values of invalid configurations: those that the family does not know, and those
  /// that it knows.
  std::vector<std::string> unknown_values{};
};

/// `with_dropped`: tables, Markdown and CSV list the dropped configurations too. JSON
/// (configs/schema/list.schema.json) always holds "kept" and "pruned".
[[nodiscard]] Document plan_document(const PlanReport& report, bool with_dropped);

/// One configuration that `compile` handled.
struct CompiledConfig {
  std::string short_form;
  OutcomeKind status = OutcomeKind::stopped;
  std::string detail;                  ///< the reason in one line; empty: none
  std::string log;                     ///< NVRTC's
  std::optional<ResourceFacts> facts;  ///< absent unless compiled
  std::int64_t dynamic_smem_bytes = 0;
  int threads_per_block = 0;
  int blocks_per_sm = 0;
  double compile_ms = 0.0;
  bool from_cache = false;
  std::string artifact_key;
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
