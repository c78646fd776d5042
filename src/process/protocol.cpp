#include "process/protocol.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

namespace fatune {
namespace {

constexpr std::array<char, 4> kMagic{'F', 'T', 'N', '1'};

void put_size(std::vector<char>& bytes, std::size_t size) {
  for (int shift = 0; shift < 32; shift += 8) {
    bytes.push_back(static_cast<char>((size >> shift) & 0xff));
  }
}

std::uint32_t get_size(const char* bytes) {
  std::uint32_t size = 0;
  for (int i = 3; i >= 0; --i) {
    size = size << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return size;
}

void check_size(std::size_t bytes, std::size_t most, const char* what) {
  if (bytes > most) {
    throw ProtocolError(
        fmt::format("a message with {} bytes of {}; at most {} are allowed", bytes, what, most));
  }
}

struct FrameSizes {
  std::size_t json_bytes;
  std::size_t blob_bytes;
};

FrameSizes read_header(const char* bytes) {
  if (!std::equal(kMagic.begin(), kMagic.end(), bytes)) {
    throw ProtocolError("bytes that are not a message");
  }
  const FrameSizes sizes{get_size(bytes + 4), get_size(bytes + 8)};
  check_size(sizes.json_bytes, kMaxJsonBytes, "JSON");
  check_size(sizes.blob_bytes, kMaxBlobBytes, "data");
  return sizes;
}

}  // namespace

std::vector<char> encode(const Message& message) {
  const std::string json =
      message.body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  check_size(json.size(), kMaxJsonBytes, "JSON");
  check_size(message.blob.size(), kMaxBlobBytes, "data");
  std::vector<char> bytes(kMagic.begin(), kMagic.end());
  bytes.reserve(kFrameHeaderBytes + json.size() + message.blob.size());
  put_size(bytes, json.size());
  put_size(bytes, message.blob.size());
  bytes.insert(bytes.end(), json.begin(), json.end());
  bytes.insert(bytes.end(), message.blob.begin(), message.blob.end());
  return bytes;
}

void FrameDecoder::feed(std::span<const char> bytes) {
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(read_));
  read_ = 0;
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

std::optional<Message> FrameDecoder::next() {
  const char* const frame = buffer_.data() + read_;
  const std::size_t available = buffer_.size() - read_;
  if (available < kFrameHeaderBytes) {
    return std::nullopt;
  }
  const FrameSizes sizes = read_header(frame);
  const std::size_t total = kFrameHeaderBytes + sizes.json_bytes + sizes.blob_bytes;
  if (available < total) {
    return std::nullopt;
  }
  const char* const json = frame + kFrameHeaderBytes;
  const char* const blob = json + sizes.json_bytes;
  Message message{nlohmann::json::parse(json, blob, nullptr, false),
                  {blob, blob + sizes.blob_bytes}};
  if (!message.body.is_object()) {
    throw ProtocolError("a message whose body is not a JSON object");
  }
  read_ += total;
  return message;
}

std::string type_of(const Message& message) {
  const auto type = message.body.find("type");
  if (type == message.body.end() || !type->is_string()) {
    throw ProtocolError("a message without a type");
  }
  return type->get<std::string>();
}

}  // namespace fatune
