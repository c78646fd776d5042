#pragma once

#include <string_view>

#include "app/console/streams.hpp"
#include "app/option_groups.hpp"
#include "emit/document/document.hpp"
#include "emit/document/page.hpp"

namespace fatune {

/// The page for a report with these options.
[[nodiscard]] Page page_of(const OutputOptions& output);

/// A report, like a result, as its format renders it.
void print_document(const Document& document, const OutputOptions& output);

/// A report, like a result; of a table those lines wrapped that are wider than the terminal.
void print_report(std::string_view text, const OutputOptions& output);

/// A remark for people, to standard error; nothing when quiet.
void print_note(const OutputOptions& output, std::string_view text);

}  // namespace fatune
