#pragma once

#include <string>
#include <string_view>

#include "data/json_file.hpp"
#include "exchange/tuning_results.hpp"

// Kernel Tuner's cache file, from which its simulation mode replays a search
// (https://kerneltuner.github.io/kernel_tuner). Times are in milliseconds.
namespace fatune {

/// The members are in Kernel Tuner's order: it appends settings after the last member.
[[nodiscard]] Json kernel_tuner_cache_json(const TuningResults& results);

/// Adds the closing braces that Kernel Tuner leaves out while it is tuning, or when it was stopped,
/// and removes the comma before them. Returns any other text unchanged.
[[nodiscard]] std::string closed_cache_text(std::string_view text);

/// `file` must have been checked against configs/schema/kernel_tuner_cache.schema.json.
/// Error(bad_file) if a setting lacks a parameter.
[[nodiscard]] TuningResults read_kernel_tuner_cache(const JsonNode& file);

}  // namespace fatune
