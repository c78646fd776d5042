#pragma once

#include <string_view>

#include "app/console/streams.hpp"
#include "app/options.hpp"
#include "emit/page.hpp"
#include "emit/run_report.hpp"

namespace fatune {

/// Sends log messages to standard error, from a level on.
void configure_logging(Verbosity verbosity);

/// The page for a report with these options.
[[nodiscard]] Page page_of(const OutputOptions& output);

/// The print options for a run's report.
[[nodiscard]] PrintOptions print_options_of(const OutputOptions& output);

/// A report, like a result; of a table those lines wrapped that are wider than the terminal.
void print_report(std::string_view text, const OutputOptions& output);

/// A remark for people, to standard error; nothing when quiet.
void print_note(const OutputOptions& output, std::string_view text);

}  // namespace fatune
