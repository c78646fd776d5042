#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kernel_code.hpp"

namespace fatune {

/// An artifact as the bytes of a cache file:
///   "fatune artifact 1\n", 64 hex digits of SHA-256 over all that follows, "\n",
///   one line of JSON (facts, names, sizes of the parts), then the cubin and the PTX.
[[nodiscard]] std::string encode_entry(const Artifact& artifact);

/// Returns nothing unless every byte is as written and the entry belongs to `key`.
[[nodiscard]] std::optional<Artifact> decode_entry(std::string_view bytes, const std::string& key);

}  // namespace fatune
