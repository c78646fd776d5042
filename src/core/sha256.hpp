#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <nettle/sha2.h>

namespace fatune {

/// SHA-256, incremental, by Nettle. OpenSSL's libcrypto would do too, but it is 5 MB and makes
/// every start of the program about 2 ms longer (10 ms without it).
class Sha256 {
 public:
  Sha256() { sha256_init(&context_); }
  void update(std::string_view bytes);
  /// Ends the message; 64 lower-case hex digits. Call once.
  [[nodiscard]] std::string finish_hex();
  /// The same as 44 characters of base64, as a content security policy names scripts.
  [[nodiscard]] std::string finish_base64();

 private:
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest();

  sha256_ctx context_{};
};

[[nodiscard]] std::string sha256_hex(std::string_view bytes);
[[nodiscard]] std::string sha256_base64(std::string_view bytes);

}  // namespace fatune
