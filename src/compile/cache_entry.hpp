#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kernel_code.hpp"

namespace fatune {

/// The bytes of a cache file: `magic`, which ends with a newline, 64 hex digits of SHA-256 over all
/// that follows, "\n", the payload.
[[nodiscard]] std::string with_checksum(std::string_view magic, std::string_view payload);
/// Returns the payload of such a file; nothing unless every byte is as written.
[[nodiscard]] std::optional<std::string_view> checked_payload(std::string_view magic,
                                                              std::string_view bytes);

/// An artifact as the bytes of a cache file:
/// with_checksum() of one line of JSON (facts, names, sizes of the parts), then the cubin and the
/// PTX.
[[nodiscard]] std::string encode_entry(const Artifact& artifact);

/// Returns nothing unless every byte is as written and the entry belongs to `key`.
[[nodiscard]] std::optional<Artifact> decode_entry(std::string_view bytes, const std::string& key);

}  // namespace fatune
