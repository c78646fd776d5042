#include "measure/worker_messages.hpp"

#include <cstring>
#include <iterator>
#include <type_traits>

#include "base/members.hpp"
#include "model/problem.hpp"

namespace fatune {

namespace {

struct KernelName {
  std::string kernel;
};
FATUNE_MEMBERS(KernelName, kernel)

/// Reads machine code and its kernel's name: all of an artifact that a worker needs.
Artifact read_code(const Message& message) {
  Artifact artifact;
  artifact.lowered_name = read_message<KernelName>(message).kernel;
  artifact.cubin = message.blob;
  return artifact;
}

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

ExitCode exit_code_of(int number) {
  return number == static_cast<int>(ExitCode::too_large) ? ExitCode::too_large
         : number == static_cast<int>(ExitCode::no_gpu)  ? ExitCode::no_gpu
         : number == static_cast<int>(ExitCode::usage)   ? ExitCode::usage
                                                         : ExitCode::gpu_failure;
}

// The limit of extents: far beyond what one message can hold, and small enough for products of
// them.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 20;

/// How many bytes of the data are machine code. The tensors follow.
struct CodeSize {
  std::int64_t code_bytes = 0;
};
FATUNE_MEMBERS(CodeSize, code_bytes)

template <typename T>
void append_bytes(std::vector<char>& blob, const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t before = blob.size();
  blob.resize(before + values.size() * sizeof(T));
  if (!values.empty()) {
    std::memcpy(blob.data() + before, values.data(), values.size() * sizeof(T));
  }
}

// Reads a message's data piece by piece, from its beginning.
class BlobReader {
 public:
  explicit BlobReader(const Message& message) : message_(message) {}

  template <typename T>
  std::vector<T> take(std::int64_t count) {
    const auto left = static_cast<std::int64_t>(message_.blob.size() - at_);
    const auto size = static_cast<std::int64_t>(sizeof(T));
    if (count < 0 || count > left / size) {
      fail();
    }
    std::vector<T> values(static_cast<std::size_t>(count));
    if (count > 0) {
      std::memcpy(values.data(), message_.blob.data() + at_, values.size() * sizeof(T));
    }
    at_ += values.size() * sizeof(T);
    return values;
  }

  void expect_end() const {
    if (at_ != message_.blob.size()) {
      fail();
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw ProtocolError(fmt::format("message '{}': {} bytes of data do not match what it announces",
                                    type_of(message_), message_.blob.size()));
  }

  const Message& message_;
  std::size_t at_ = 0;
};

void check_dump(const DumpExtents& dump) {
  for (const std::int64_t extent : {dump.rows, dump.keys, dump.kv_tiles}) {
    if (extent < 1 || extent > kMaxExtent) {
      throw ProtocolError(fmt::format("message 'debug', 'dump': an extent of {}", extent));
    }
  }
}

void check_elements(const Message& message, const Problem& problem) {
  const auto is_extent = [](std::int64_t extent) { return extent >= 1 && extent <= kMaxExtent; };
  if (!is_extent(problem.seq_len) || !is_extent(problem.seq_len_kv) || !is_extent(problem.d_head) ||
      !is_extent(problem.d_head_v) || problem.batch != 1 || problem.heads != 1 ||
      problem.kv_heads != 1) {
    throw ProtocolError(fmt::format("message '{}': not a single head", type_of(message)));
  }
}

}  // namespace

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

Message rates_request_message(const Artifact& kernel) {
  return message_of("device_rates", kernel.cubin, KernelName{kernel.lowered_name});
}
Artifact read_rates_request(const Message& message) { return read_code(message); }

Message rejected_message(const Outcome& outcome, bool lost) {
  return message_of("rejected", {}, Rejection{outcome, lost});
}

Message debug_message(const DebugRequest& request) {
  Message message = message_of("debug", request.artifact.cubin, request,
                               KernelName{request.artifact.lowered_name},
                               CodeSize{std::ssize(request.artifact.cubin)});
  append_bytes(message.blob, request.q);
  append_bytes(message.blob, request.k);
  append_bytes(message.blob, request.v);
  return message;
}

DebugRequest read_debug(const Message& message) {
  auto request = read_message<DebugRequest>(message);
  check_elements(message, request.problem);
  check_dump(request.dump.value_or(DumpExtents{1, 1, 1}));
  request.artifact.lowered_name = read_message<KernelName>(message).kernel;
  BlobReader data(message);
  request.artifact.cubin = data.take<char>(read_message<CodeSize>(message).code_bytes);
  request.q = data.take<std::uint16_t>(tensor_elements(request.problem, TensorRole::q));
  request.k = data.take<std::uint16_t>(tensor_elements(request.problem, TensorRole::k));
  request.v = data.take<std::uint16_t>(tensor_elements(request.problem, TensorRole::v));
  data.expect_end();
  return request;
}

Message debugged_message(const DebugRun& run) {
  Message message = message_of("debugged", {});
  append_bytes(message.blob, run.output);
  append_bytes(message.blob, run.dump);
  return message;
}

DebugRun read_debugged(const Message& message, const DebugRequest& request) {
  BlobReader data(message);
  DebugRun run;
  run.output = data.take<std::uint16_t>(tensor_elements(request.problem, TensorRole::o));
  run.dump = data.take<float>(request.dump ? request.dump->values(request.problem.d_head_v) : 0);
  data.expect_end();
  return run;
}

}  // namespace fatune
