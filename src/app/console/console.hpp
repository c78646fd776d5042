#pragma once

#include <string_view>

#include "app/console/streams.hpp"
#include "app/option_groups.hpp"
#include "emit/document/document.hpp"

namespace fatune {

/// A report, like a result, as its format renders it; of a table those lines wrapped that are wider
/// than the terminal.
void print_document(const Document& document, const OutputOptions& output);

/// A remark for people, to standard error; nothing when quiet.
void print_note(const OutputOptions& output, std::string_view text);

}  // namespace fatune
