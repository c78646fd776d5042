#pragma once

#include <string_view>

#include "app/console/streams.hpp"
#include "app/option_groups.hpp"
#include "emit/document/document.hpp"

namespace fatune {

/// Prints a report to standard output in the requested format. Lines of a table are wrapped if they
/// are wider than the terminal.
void print_document(const Document& document, const OutputOptions& output);

/// Prints lines with texts from files, such as listings, to standard output: visible_lines().
void print_text(std::string_view text);

/// Prints a note for people to standard error, unless quiet: visible_lines().
void print_note(const OutputOptions& output, std::string_view text);

}  // namespace fatune
