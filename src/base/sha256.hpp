#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <nettle/sha2.h>

namespace fatune {

/// Incremental SHA-256 with Nettle. OpenSSL's libcrypto is not used because it is 5 MB and adds
/// about 2 ms to every start of the program (10 ms without it).
class Sha256 {
 public:
  Sha256() { sha256_init(&context_); }
  void update(std::string_view bytes);
  /// Adds a file's name and content, with what keeps them apart.
  void update_file(std::string_view name, std::string_view text);
  /// Ends the message; returns 64 lower-case hex digits. Call once.
  [[nodiscard]] std::string finish_hex();
  /// Ends the message. Call once.
  [[nodiscard]] std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest();

 private:
  sha256_ctx context_{};
};

[[nodiscard]] std::string sha256_hex(std::string_view bytes);
/// The hash as 44 characters of base64, the form in which a content security policy names scripts.
[[nodiscard]] std::string sha256_base64(std::string_view bytes);

}  // namespace fatune
