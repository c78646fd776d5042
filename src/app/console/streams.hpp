#pragma once

#include <string_view>

#include "app/option_groups.hpp"

// Texts to the standard streams.
namespace fatune {

/// A result, to standard output. Error(io) when it cannot be written whole.
void print_result(std::string_view text);

/// Prints the text unchanged to standard error. A failure to write there is ignored: it ends no
/// run.
void print_diagnostic(std::string_view text);

/// Sends log messages to standard error, from a level on.
void configure_logging(Verbosity verbosity);

}  // namespace fatune
