#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "attention/debug_request.hpp"
#include "attention/problem.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "core/error.hpp"
#include "core/gpu_reading.hpp"
#include "core/kernel_code.hpp"
#include "core/outcome.hpp"
#include "report/emulation.hpp"
#include "report/report.hpp"

// Core's plain values as JSON that can be read back without loss, for the worker's messages and the
// store. (What users read is emit's business. Of these values, it shows how a kernel is launched,
// LaunchGeometry.)
//
// An object has a member for each member of the struct, under its name. Enumerations are written as
// their names, an architecture as "sm_90a", numbers that are not finite as "nan", "inf" and "-inf".
// An Outcome is an object whose "outcome" names its alternative (outcome_name()).
namespace fatune {

/// For Outcome, Timing, Verification, ErrorStats, Problem, Config, DeviceLimits, MeasurePolicy,
/// MeasuringSummary, GpuReading, GpuConditions, MatmulRate, RuleAudit, LaunchGeometry, CountedWork,
/// ResourceFacts, Toolchain, Result, ProblemReport and RunReport; also for an optional
/// Problem, Verification, LaunchGeometry, GpuReading and DumpExtents, which are null without a
/// value.
template <typename Value>
[[nodiscard]] nlohmann::json record_json(const Value& value);

/// Reads the value back. Unknown members are ignored. Throws Error(bad_file), which names the
/// member, if a member of the first version is missing, or a member has another type or a value
/// that does not fit, or an outcome has a time that no kernel takes.
template <typename Value>
[[nodiscard]] Value read_record(const nlohmann::json& json);

/// One line of JSON. Bytes that are not UTF-8 (a compiler's log may hold any) become U+FFFD.
[[nodiscard]] std::string record_text(const nlohmann::json& json);
/// Throws Error(bad_file) if `text` is not JSON.
[[nodiscard]] nlohmann::json parse_record(std::string_view text);

}  // namespace fatune
