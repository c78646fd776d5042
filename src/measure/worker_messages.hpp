#pragma once

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/worker_process.hpp"
#include "measure/measurer.hpp"
#include "model/device_limits.hpp"
#include "model/head_problem.hpp"
#include "model/record_reader.hpp"
#include "model/record_writer.hpp"

// Functions that make and read the messages of docs/worker-protocol.md. A message has the members
// of a struct, from its list; machine code is its data. Reading throws ProtocolError if a member is
// missing or of the wrong type.

namespace fatune {

inline RecordJson to_record(CandidateId id) { return id.index; }
inline RecordJson to_record(Extent extent) { return extent == Extent::part ? "part" : "whole"; }
inline void read(const RecordJson& json, CandidateId& id) { record_reader::read(json, id.index); }
inline void read(const RecordJson& json, Extent& extent) {
  extent = json == "part" ? Extent::part : Extent::whole;
}

/// A message with the members of each value. `data`: its bytes besides JSON.
template <typename... Values>
[[nodiscard]] Message message_of(const char* type, std::vector<char> data,
                                 const Values&... values) {
  RecordJson body{{"type", type}};
  (record_writer::add_members(values, body), ...);
  return {std::move(body), std::move(data)};
}

/// Throws ProtocolError, which names the member, if one is missing or of the wrong type.
template <typename Value>
[[nodiscard]] Value read_message(const Message& message) {
  try {
    Value value;
    record_reader::read(message.body, value);
    return value;
  } catch (const Error& error) {
    throw ProtocolError(
        fmt::format("message '{}', '{}': {}", type_of(message), error.where(), error.what()));
  }
}

struct Hello {
  int protocol = kProtocolVersion;
  int device_ordinal = 0;
  MeasurePolicy policy;
  bool count_rows = false;  ///< verifications say which rows are wrong
};
FATUNE_MEMBERS(Hello, protocol, device_ordinal, policy, count_rows)

[[nodiscard]] Hello read_hello(const Message& message);

[[nodiscard]] Message ready_message(const DeviceLimits& limits);
[[nodiscard]] DeviceLimits read_ready(const Message& message);

/// A message "refused" or "failed", for an Error that ends measuring as a whole.
[[nodiscard]] Message error_message(const char* type, const Error& error);
[[nodiscard]] Error read_error(const Message& message);

/// A problem with the kernels that measure it.
struct ProblemStart {
  Problem problem;
  Artifact kernels;  ///< only machine code and name: all that a worker needs
  std::optional<Problem> part = {};
};
FATUNE_DESCRIBED(ProblemStart, (problem), (kernels, kElsewhere), (part))
[[nodiscard]] Message begin_problem_message(const ProblemStart& start);
[[nodiscard]] ProblemStart read_begin_problem(const Message& message);

[[nodiscard]] Message admit_message(CandidateId id, const CandidateKernel& kernel);
[[nodiscard]] CandidateKernel read_candidate(const Message& message);
/// The request for RemoteMeasurer::device_rates(). It has the kernel in the form of a problem's
/// kernels, and no arguments.
[[nodiscard]] Message rates_request_message(const Artifact& kernel);
[[nodiscard]] Artifact read_rates_request(const Message& message);
/// Requests "admit", "sample", "recheck", "count" and "retire" have these members, among others.
struct ForCandidate {
  CandidateId id;
};
FATUNE_MEMBERS(ForCandidate, id)

struct OneSample {
  double sample_us = 0.0;
  std::optional<GpuReading> reading;
  bool gate_in_use = false;
  bool deterministic = true;
  std::optional<Verification> verification = {};
};
FATUNE_MEMBERS(OneSample, sample_us, reading, gate_in_use, deterministic, verification)
struct Rejection {
  Outcome outcome;
  bool lost = false;  ///< the GPU context is lost with it, so that the worker ends
};
FATUNE_DESCRIBED(Rejection, (outcome, kFlat), (lost))
/// The answer for a candidate that failed.
[[nodiscard]] Message rejected_message(const Outcome& outcome, bool lost);

[[nodiscard]] Message debug_message(const DebugRequest& request);
/// Also throws ProtocolError if the data is not as long as the message says.
[[nodiscard]] DebugRequest read_debug(const Message& message);

[[nodiscard]] Message debugged_message(const DebugRun& run);
/// Also throws ProtocolError if it is not an answer to that request.
[[nodiscard]] DebugRun read_debugged(const Message& message, const DebugRequest& request);

}  // namespace fatune
