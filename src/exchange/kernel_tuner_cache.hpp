#pragma once

#include <string>
#include <string_view>

#include "data/json_file.hpp"
#include "exchange/tuning_results.hpp"

// Kernel Tuner's cache file, from which its simulation mode replays a search
// (https://kerneltuner.github.io/kernel_tuner). Times are in milliseconds.
namespace fatune {

/// The members stand in Kernel Tuner's order: it adds settings behind the last.
[[nodiscard]] Json kernel_tuner_cache_json(const TuningResults& results);

/// The text with the braces at its end that Kernel Tuner leaves out while it is tuning, or when it
/// was stopped, and without the comma before them; any other text as it is.
[[nodiscard]] std::string closed_cache_text(std::string_view text);

/// `file`: checked against configs/schema/kernel_tuner_cache.schema.json. Error(bad_file) when a
/// setting lacks a parameter.
[[nodiscard]] TuningResults read_kernel_tuner_cache(const JsonNode& file);

}  // namespace fatune
