#include "measure/debug_messages.hpp"

#include <cstring>
#include <initializer_list>
#include <iterator>
#include <type_traits>

#include "attention/tensor_shape.hpp"
#include "measure/message_members.hpp"

namespace fatune {
namespace {

// The limit of extents: far beyond what one message can hold, and small enough for products of
// them.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 20;

/// How many bytes of the data are machine code. The tensors follow.
struct CodeSize {
  std::int64_t code_bytes = 0;
};
FATUNE_MEMBERS(CodeSize, code_bytes)

template <typename T>
void append(std::vector<char>& blob, const std::vector<T>& values) {
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

Message debug_message(const DebugRequest& request) {
  Message message = message_of("debug", request.artifact.cubin, request,
                               KernelName{request.artifact.lowered_name},
                               CodeSize{std::ssize(request.artifact.cubin)});
  append(message.blob, request.q);
  append(message.blob, request.k);
  append(message.blob, request.v);
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
  append(message.blob, run.output);
  append(message.blob, run.dump);
  return message;
}

DebugRun read_debugged(const Message& message, const DebugRequest& request) {
  BlobReader data(message);
  DebugRun run;
  run.output = data.take<std::uint16_t>(tensor_elements(request.problem, TensorRole::o));
  run.dump = data.take<float>(request.dump ? request.dump->values(request.problem.d_head) : 0);
  data.expect_end();
  return run;
}

}  // namespace fatune
