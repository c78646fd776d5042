#include "measure/worker_messages.hpp"

#include <fmt/format.h>

#include "measure/message_members.hpp"

namespace fatune {
namespace {

ExitCode read_exit_code(const Message& message) {
  const int number = plain_member<int>(message, "code");
  return number == static_cast<int>(ExitCode::too_large) ? ExitCode::too_large
         : number == static_cast<int>(ExitCode::no_gpu)  ? ExitCode::no_gpu
         : number == static_cast<int>(ExitCode::usage)   ? ExitCode::usage
                                                         : ExitCode::gpu_failure;
}

// Reads machine code and its kernel's name: all that a worker needs.
Artifact read_code(const Message& message) {
  Artifact artifact;
  artifact.lowered_name = plain_member<std::string>(message, "kernel");
  artifact.cubin = message.blob;
  return artifact;
}

}  // namespace

Message plain_message(const char* type) { return {{{"type", type}}, {}}; }

Message hello_message(const Hello& hello) {
  return {{{"type", "hello"},
           {"protocol", hello.protocol},
           {"device", hello.device_ordinal},
           {"policy", record_json(hello.policy)},
           {"count_rows", hello.count_rows}},
          {}};
}

Hello read_hello(const Message& message) {
  Hello hello;
  hello.protocol = plain_member<int>(message, "protocol");
  if (hello.protocol == kProtocolVersion) {
    hello.device_ordinal = plain_member<int>(message, "device");
    hello.policy = record_member<MeasurePolicy>(message, "policy");
    hello.count_rows = plain_member<bool>(message, "count_rows");
  }
  return hello;
}

Message ready_message(const DeviceLimits& limits) {
  return {{{"type", "ready"}, {"protocol", kProtocolVersion}, {"limits", record_json(limits)}}, {}};
}

DeviceLimits read_ready(const Message& message) {
  if (const int protocol = plain_member<int>(message, "protocol"); protocol != kProtocolVersion) {
    throw ProtocolError(fmt::format("the worker speaks version {} of the protocol, fatune {}",
                                    protocol, kProtocolVersion));
  }
  return record_member<DeviceLimits>(message, "limits");
}

Message error_message(const char* type, const Error& error) {
  return {{{"type", type},
           {"code", static_cast<int>(error.code())},
           {"what", error.what_was_wrong()},
           {"where", error.where()},
           {"remedy", error.remedy()}},
          {}};
}

Error read_error(const Message& message) {
  return {read_exit_code(message), plain_member<std::string>(message, "what"),
          plain_member<std::string>(message, "where"),
          plain_member<std::string>(message, "remedy")};
}

Message begin_problem_message(const ProblemStart& start) {
  return {{{"type", "begin_problem"},
           {"problem", record_json(start.problem)},
           {"part", record_json(start.part)},
           {"kernel", start.kernels.lowered_name}},
          start.kernels.cubin};
}

ProblemStart read_begin_problem(const Message& message) {
  return {record_member<Problem>(message, "problem"), read_code(message),
          record_member<std::optional<Problem>>(message, "part")};
}

Message admit_message(CandidateId id, const CandidateKernel& kernel) {
  return {{{"type", "admit"},
           {"id", id.index},
           {"label", kernel.label},
           {"family", kernel.family},
           {"kernel", kernel.artifact->lowered_name},
           {"geometry", record_json(kernel.geometry)},
           {"probe_geometry", record_json(kernel.probe_geometry)},
           {"is_repeated", kernel.is_repeated},
           {"small_geometry", record_json(kernel.small_geometry)},
           {"part_geometry", record_json(kernel.part_geometry)}},
          kernel.artifact->cubin};
}

CandidateKernel read_candidate(const Message& message) {
  return {plain_member<std::string>(message, "label"),
          std::make_shared<Artifact>(read_code(message)),
          record_member<LaunchGeometry>(message, "geometry"),
          record_member<LaunchGeometry>(message, "probe_geometry"),
          plain_member<std::string>(message, "family"),
          false,
          plain_member<bool>(message, "is_repeated"),
          record_member<std::optional<LaunchGeometry>>(message, "small_geometry"),
          record_member<std::optional<LaunchGeometry>>(message, "part_geometry")};
}

Message sample_message(CandidateId id, const SampleRequest& request) {
  return {{{"type", "sample"},
           {"id", id.index},
           {"count", request.count},
           {"round", request.round},
           {"on_part", request.extent == Extent::part}},
          {}};
}

SampleRequest read_sample(const Message& message) {
  return {plain_member<int>(message, "count"), plain_member<int>(message, "round"),
          plain_member<bool>(message, "on_part") ? Extent::part : Extent::whole};
}

Message count_message(CandidateId id, const CountRequest& request) {
  return {
      {{"type", "count"}, {"id", id.index}, {"runs", request.runs}, {"metrics", request.metrics}},
      {}};
}

CountRequest read_count_request(const Message& message) {
  return {plain_member<int>(message, "runs"),
          plain_member<std::vector<std::string>>(message, "metrics")};
}

Message matmul_rate_message(const Artifact& kernel) {
  return {{{"type", "matmul_rate"}, {"kernel", kernel.lowered_name}}, kernel.cubin};
}

Artifact read_matmul_rate(const Message& message) { return read_code(message); }

Message candidate_message(const char* type, CandidateId id) {
  return {{{"type", type}, {"id", id.index}}, {}};
}

CandidateId read_id(const Message& message) { return {plain_member<std::size_t>(message, "id")}; }

Message admitted_message(const Admission& admission) {
  return {{{"type", "admitted"},
           {"verification", record_json(admission.verification)},
           {"first_us", admission.first_us},
           {"reading", record_json(admission.reading)}},
          {}};
}

Admission read_admitted(const Message& message) {
  return {record_member<Verification>(message, "verification"),
          plain_member<double>(message, "first_us"), std::nullopt,
          record_member<std::optional<GpuReading>>(message, "reading")};
}

Message sampled_message(const OneSample& one) {
  return {{{"type", "sampled"},
           {"us", one.sample_us},
           {"gate", one.gate_in_use},
           {"deterministic", one.deterministic},
           {"reading", record_json(one.reading)},
           {"verification", record_json(one.verification)}},
          {}};
}

OneSample read_sampled(const Message& message) {
  return {plain_member<double>(message, "us"),
          record_member<std::optional<GpuReading>>(message, "reading"),
          plain_member<bool>(message, "gate"), plain_member<bool>(message, "deterministic"),
          record_member<std::optional<Verification>>(message, "verification")};
}

Message multiplied_message(const MatmulRate& rate) {
  return {{{"type", "multiplied"}, {"rate", record_json(rate)}}, {}};
}

MatmulRate read_multiplied(const Message& message) {
  return record_member<MatmulRate>(message, "rate");
}

Message counted_message(const Counted& counted) {
  return {{{"type", "counted"}, {"runs", counted.runs}}, {}};
}

Counted read_counted(const Message& message) {
  return {plain_member<decltype(Counted::runs)>(message, "runs"), std::nullopt};
}

Message rejected_message(const Outcome& outcome, bool lost) {
  return {{{"type", "rejected"}, {"outcome", record_json(outcome)}, {"lost", lost}}, {}};
}

Rejection read_rejected(const Message& message) {
  return {record_member<Outcome>(message, "outcome"), plain_member<bool>(message, "lost")};
}

}  // namespace fatune
