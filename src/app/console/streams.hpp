#pragma once

#include <string_view>

#include "app/option_groups.hpp"

// Writes texts to the standard streams.
namespace fatune {

/// Prints a result to standard output. Throws Error(io) if it cannot be written completely.
void print_result(std::string_view text);

/// Prints the text unchanged to standard error. A failure to write is ignored, because it must not
/// end a run.
void print_diagnostic(std::string_view text);

/// Sends log messages to standard error, from the level of `verbosity` on.
void configure_logging(Verbosity verbosity);

}  // namespace fatune
