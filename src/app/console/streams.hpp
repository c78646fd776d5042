#pragma once

#include <string_view>

// Texts to the standard streams.
namespace fatune {

/// A result, to standard output. Error(io) when it cannot be written whole.
void print_result(std::string_view text);

/// To standard error, as it is. What cannot be written there is lost: no run ends for it.
void print_diagnostic(std::string_view text);

}  // namespace fatune
