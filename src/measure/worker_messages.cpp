#include "measure/worker_messages.hpp"

#include <fmt/format.h>

#include "measure/message_members.hpp"

namespace fatune {

static RecordJson to_record(CandidateId id) { return id.index; }
static RecordJson to_record(Extent extent) { return extent == Extent::part ? "part" : "whole"; }
static void read(const RecordJson& json, CandidateId& id) { record_reader::read(json, id.index); }
static void read(const RecordJson& json, Extent& extent) {
  extent = json == "part" ? Extent::part : Extent::whole;
}

namespace {

/// The version alone, which a peer of another version understands.
struct Version {
  int protocol = kProtocolVersion;
};
FATUNE_MEMBERS(Version, protocol)

struct Ready {
  int protocol = kProtocolVersion;
  DeviceLimits limits;
};
FATUNE_MEMBERS(Ready, protocol, limits)

struct Failure {
  int code = 0;
  std::string what;
  std::string where;
  std::string remedy;
};
FATUNE_MEMBERS(Failure, code, what, where, remedy)

struct ForCandidate {
  CandidateId id;
};
FATUNE_MEMBERS(ForCandidate, id)

ExitCode exit_code_of(int number) {
  return number == static_cast<int>(ExitCode::too_large) ? ExitCode::too_large
         : number == static_cast<int>(ExitCode::no_gpu)  ? ExitCode::no_gpu
         : number == static_cast<int>(ExitCode::usage)   ? ExitCode::usage
                                                         : ExitCode::gpu_failure;
}

}  // namespace

Message plain_message(const char* type) { return message_of(type, {}); }

Message hello_message(const Hello& hello) { return message_of("hello", {}, hello); }

Hello read_hello(const Message& message) {
  Hello other;
  other.protocol = read_message<Version>(message).protocol;
  return other.protocol == kProtocolVersion ? read_message<Hello>(message) : other;
}

Message ready_message(const DeviceLimits& limits) {
  return message_of("ready", {}, Ready{.limits = limits});
}

DeviceLimits read_ready(const Message& message) {
  if (const int protocol = read_message<Version>(message).protocol; protocol != kProtocolVersion) {
    throw ProtocolError(fmt::format("the worker speaks version {} of the protocol, fatune {}",
                                    protocol, kProtocolVersion));
  }
  return read_message<Ready>(message).limits;
}

Message error_message(const char* type, const Error& error) {
  return message_of(type, {},
                    Failure{static_cast<int>(error.code()), error.what_was_wrong(), error.where(),
                            error.remedy()});
}

Error read_error(const Message& message) {
  const auto failure = read_message<Failure>(message);
  return {exit_code_of(failure.code), failure.what, failure.where, failure.remedy};
}

Message begin_problem_message(const ProblemStart& start) {
  return message_of("begin_problem", start.kernels.cubin, start,
                    KernelName{start.kernels.lowered_name});
}

ProblemStart read_begin_problem(const Message& message) {
  auto start = read_message<ProblemStart>(message);
  start.kernels = read_code(message);
  return start;
}

Message admit_message(CandidateId id, const CandidateKernel& kernel) {
  return message_of("admit", kernel.artifact->cubin, ForCandidate{id},
                    KernelName{kernel.artifact->lowered_name}, kernel);
}

CandidateKernel read_candidate(const Message& message) {
  auto kernel = read_message<CandidateKernel>(message);
  kernel.artifact = std::make_shared<Artifact>(read_code(message));
  return kernel;
}

Message sample_message(CandidateId id, const SampleRequest& request) {
  return message_of("sample", {}, ForCandidate{id}, request);
}
SampleRequest read_sample(const Message& message) { return read_message<SampleRequest>(message); }

Message count_message(CandidateId id, const CountRequest& request) {
  return message_of("count", {}, ForCandidate{id}, request);
}
CountRequest read_count_request(const Message& message) {
  return read_message<CountRequest>(message);
}

Message matmul_rate_message(const Artifact& kernel) {
  return message_of("matmul_rate", kernel.cubin, KernelName{kernel.lowered_name});
}
Artifact read_matmul_rate(const Message& message) { return read_code(message); }

Message candidate_message(const char* type, CandidateId id) {
  return message_of(type, {}, ForCandidate{id});
}
CandidateId read_id(const Message& message) { return read_message<ForCandidate>(message).id; }

Message admitted_message(const Admission& admission) {
  return message_of("admitted", {}, admission);
}
Admission read_admitted(const Message& message) { return read_message<Admission>(message); }

Message sampled_message(const OneSample& one) { return message_of("sampled", {}, one); }
OneSample read_sampled(const Message& message) { return read_message<OneSample>(message); }

Message multiplied_message(const MatmulRate& rate) { return message_of("multiplied", {}, rate); }
MatmulRate read_multiplied(const Message& message) { return read_message<MatmulRate>(message); }

Message counted_message(const Counted& counted) { return message_of("counted", {}, counted); }
Counted read_counted(const Message& message) { return read_message<Counted>(message); }

Message rejected_message(const Outcome& outcome, bool lost) {
  return message_of("rejected", {}, Rejection{outcome, lost});
}
Rejection read_rejected(const Message& message) { return read_message<Rejection>(message); }

}  // namespace fatune
