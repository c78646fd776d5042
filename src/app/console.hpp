#pragma once

#include <string_view>

#include "app/options.hpp"

namespace fatune {

/// Where log messages go (standard error), and from which level on.
void configure_logging(Verbosity verbosity);

/// A result, to standard output. Error(io) when it cannot be written whole.
void print_result(std::string_view text);

/// A remark for people, to standard error; nothing when quiet.
void print_note(const OutputOptions& output, std::string_view text);

}  // namespace fatune
