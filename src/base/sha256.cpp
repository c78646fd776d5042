#include "base/sha256.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nettle/base64.h>
#include <nettle/version.h>

namespace fatune {

void Sha256::update(std::string_view bytes) {
  sha256_update(&context_, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

std::array<std::uint8_t, SHA256_DIGEST_SIZE> Sha256::digest() {
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> bytes{};
#if NETTLE_VERSION_MAJOR < 4
  sha256_digest(&context_, bytes.size(), bytes.data());
#else
  sha256_digest(&context_, bytes.data());
#endif
  return bytes;
}

void Sha256::update_file(std::string_view name, std::string_view text) {
  update(name);
  update(std::string_view("\0", 1));
  update(std::to_string(text.size()));
  update(std::string_view("\0", 1));
  update(text);
}

std::string Sha256::finish_hex() { return fmt::format("{:02x}", fmt::join(digest(), "")); }

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish_hex();
}

std::string sha256_base64(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  std::array<char, BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE)> text{};
  base64_encode_raw(text.data(), SHA256_DIGEST_SIZE, hash.digest().data());
  return {text.data(), text.size()};
}

}  // namespace fatune
