#include "compile/sha256.hpp"

#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nettle/version.h>

namespace fatune {

void Sha256::update(std::string_view bytes) {
  sha256_update(&context_, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

std::string Sha256::finish_hex() {
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
#if NETTLE_VERSION_MAJOR < 4
  sha256_digest(&context_, digest.size(), digest.data());
#else
  sha256_digest(&context_, digest.data());
#endif
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish_hex();
}

}  // namespace fatune
