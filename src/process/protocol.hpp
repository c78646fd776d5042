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

/// Incremented with every change that an older peer would not understand.
inline constexpr int kProtocolVersion = 8;

/// One message: a JSON object whose "type" says what it is, and bytes (machine code, tensors) where
/// JSON would be a poor container.
struct Message {
  nlohmann::json body;
  std::vector<char> blob;
};

/// The bytes do not follow the protocol, or the peer sends a message at the wrong time.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::size_t kFrameHeaderBytes = 12;
inline constexpr std::uint32_t kMaxJsonBytes = std::uint32_t{16} << 20;
inline constexpr std::uint32_t kMaxBlobBytes = std::uint32_t{256} << 20;

/// Encodes a message for the stream: "FTN1", then two little-endian 32-bit sizes, then JSON, then
/// blob. Throws ProtocolError if the message exceeds the limits.
[[nodiscard]] std::vector<char> encode(const Message& message);

/// Assembles messages from the pieces of the stream that arrive. Never holds more than a frame may
/// have, and never trusts a size before the magic number was right.
class FrameDecoder {
 public:
  void feed(std::span<const char> bytes);
  /// The next complete message. Empty: there is none yet. Throws ProtocolError for bytes that are
  /// no message; the stream is then unusable.
  [[nodiscard]] std::optional<Message> next();

 private:
  std::vector<char> buffer_;
  std::size_t read_ = 0;  // bytes of the buffer that have been given out
};

/// The message's "type". Throws ProtocolError if there is none.
[[nodiscard]] std::string type_of(const Message& message);

}  // namespace fatune
