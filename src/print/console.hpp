#pragma once

#include "model/options.hpp"

// Writes to the standard streams.
namespace fatune {

struct Document;

/// Prints a result to standard output. Throws Error(io) if it cannot be written completely.
void print_result(std::string_view text);

/// Prints the text unchanged to standard error. A failure to write is ignored, because it must not
/// end a run.
void print_diagnostic(std::string_view text);

/// Sends log messages to standard error, from the level of `verbosity` on.
void configure_logging(Verbosity verbosity);

/// Prints a report to standard output in the requested format. Lines of a table are wrapped if they
/// are wider than the terminal.
void print_document(const Document& document, const OutputOptions& output);

/// Prints lines with texts from files, such as listings, to standard output: visible_lines().
void print_text(std::string_view text);

/// Prints a note for people to standard error, unless quiet: visible_lines().
void print_note(const OutputOptions& output, std::string_view text);

/// Returns the current width in columns of the terminal that a descriptor refers to. If the
/// terminal does not know it, returns `said`, the environment's COLUMNS. 0: it is not a terminal,
/// or the width is unknown.
[[nodiscard]] std::size_t terminal_columns(int descriptor, std::size_t said);

}  // namespace fatune
