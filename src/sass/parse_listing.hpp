#pragma once

#include <string>
#include <string_view>

#include "sass/listing.hpp"

namespace fatune {

/// Reads what `nvdisasm -c` prints, with or without -g or -gi (source lines), -gp (PTX lines) and
/// -hex (encodings). Throws Error(bad_file), naming `origin` and the line, for anything else: no
/// code, an instruction that is cut off, bytes that are not text, addresses that do not ascend.
[[nodiscard]] Listing parse_listing(std::string_view text, const std::string& origin);

}  // namespace fatune
