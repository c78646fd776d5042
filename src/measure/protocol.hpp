#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// The messages between fatune and its worker process: docs/worker-protocol.md.
namespace fatune {

/// Raised by one with every change that an older peer would not understand.
inline constexpr int kProtocolVersion = 7;

/// One message: a JSON object whose "type" says what it is, and bytes (machine code, tensors) where
/// JSON would be a poor container.
struct Message {
  nlohmann::json body;
  std::vector<char> blob;
};

/// The bytes are not what the protocol says, or the peer says something at the wrong time.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::size_t kFrameHeaderBytes = 12;
inline constexpr std::uint32_t kMaxJsonBytes = std::uint32_t{16} << 20;
inline constexpr std::uint32_t kMaxBlobBytes = std::uint32_t{256} << 20;

/// A message as it travels: "FTN1", then two little-endian 32-bit sizes, then JSON, then blob.
/// Throws ProtocolError when it is larger than the limits.
[[nodiscard]] std::vector<char> encode(const Message& message);

/// Puts messages together from whatever pieces of the stream arrive. Never holds more than a frame
/// may have, and never trusts a size before the magic number was right.
class FrameDecoder {
 public:
  void feed(std::span<const char> bytes);
  /// The next complete message, if any. Throws ProtocolError for what is none: the stream is then
  /// of no use any more.
  [[nodiscard]] std::optional<Message> next();

 private:
  std::vector<char> buffer_;
  std::size_t read_ = 0;  // bytes of the buffer that have been given out
};

/// The message's "type". Throws ProtocolError when there is none.
[[nodiscard]] std::string type_of(const Message& message);

}  // namespace fatune
