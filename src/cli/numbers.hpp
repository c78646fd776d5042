#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/problem.hpp"

namespace fatune {

/// Splits "a, b" at the commas and trims blanks around parts. An empty text is one empty part.
[[nodiscard]] std::vector<std::string_view> split_at_commas(std::string_view text);

/// Parses an integer from `least` to `greatest`, decimal digits only. A leading '-' is parsed, so
/// that the error can say that the number is out of range. Throws Error(usage) with the option, the
/// text and the range.
[[nodiscard]] std::int64_t parse_integer(std::string_view text, const std::string& option,
                                         std::int64_t least, std::int64_t greatest);

/// Parses a stored run's number, from 1. Returns nothing for "last". Throws as parse_integer().
[[nodiscard]] std::optional<std::int64_t> parse_run(std::string_view text,
                                                    const std::string& option);

/// Parses a number from `least` to `greatest`: "20", "0.5". Throws as parse_integer().
[[nodiscard]] double parse_number(std::string_view text, const std::string& option, double least,
                                  double greatest);

/// Parses "0,2": integers from `least` to `greatest`. Otherwise as parse_positive_list().
[[nodiscard]] std::vector<std::int64_t> parse_integer_list(std::string_view text,
                                                           const std::string& option,
                                                           std::int64_t least,
                                                           std::int64_t greatest);

/// Parses "512,1024": positive integers up to `greatest`, in the given order, without duplicates.
/// Blanks around commas are allowed. Throws Error(usage) also for an empty list or element.
[[nodiscard]] std::vector<std::int64_t> parse_positive_list(std::string_view text,
                                                            const std::string& option,
                                                            std::int64_t greatest);

/// Parses "fp16,bf16" in the same way.
[[nodiscard]] std::vector<DType> parse_dtype_list(std::string_view text, const std::string& option);

}  // namespace fatune
