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
#include "report/report.hpp"

// Core's plain values as JSON that can be read back without loss: what the worker's messages and
// the store hold. (What users read is emit's business, and is never read back; of these it shows
// how a kernel is launched, LaunchGeometry.)
//
// An object has a member for each member of the struct, under its name. Enumerations stand as their
// names, an architecture as "sm_90a", numbers that are not finite as "nan", "inf" and "-inf". An
// Outcome is an object whose "outcome" says which alternative it is (outcome_name()).
namespace fatune {

/// For Outcome, Timing, Verification, ErrorStats, Problem, Config, DeviceLimits, MeasurePolicy,
/// MeasuringSummary, GpuReading, GpuConditions, MatmulRate, RuleAudit, LaunchGeometry,
/// ResourceFacts, Toolchain, Result, ProblemReport and RunReport; also for an optional
/// Problem, Verification, LaunchGeometry, GpuReading and DumpExtents, which are null without a
/// value.
template <typename Value>
[[nodiscard]] nlohmann::json record_json(const Value& value);

/// Reads the value back. Unknown members are ignored. Throws Error(bad_file), which names the
/// member, when one is missing that was there from the first version on, or one has another type or
/// a value that does not fit.
template <typename Value>
[[nodiscard]] Value read_record(const nlohmann::json& json);

/// One line of JSON. Bytes that are no UTF-8 (a compiler's log may hold any) become U+FFFD.
[[nodiscard]] std::string record_text(const nlohmann::json& json);
/// Throws Error(bad_file) when `text` is no JSON.
[[nodiscard]] nlohmann::json parse_record(std::string_view text);

}  // namespace fatune
