#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/problem.hpp"

namespace fatune {

/// The parts of "a, b", without the blanks around them; one empty part of an empty text.
[[nodiscard]] std::vector<std::string_view> split_at_commas(std::string_view text);

/// An integer from `least` to `greatest`, decimal digits only (a leading '-' is read, to be
/// refused by name). Error(usage) naming the option, the text and the range.
[[nodiscard]] std::int64_t parse_integer(std::string_view text, const std::string& option,
                                         std::int64_t least, std::int64_t greatest);

/// A stored run's number, from 1; nothing for "last". Error(usage) as parse_integer.
[[nodiscard]] std::optional<std::int64_t> parse_run(std::string_view text,
                                                    const std::string& option);

/// A number from `least` to `greatest`: "20", "0.5". Error(usage) as parse_integer.
[[nodiscard]] double parse_number(std::string_view text, const std::string& option, double least,
                                  double greatest);

/// "0,2": integers from `least` to `greatest`, else as parse_positive_list.
[[nodiscard]] std::vector<std::int64_t> parse_integer_list(std::string_view text,
                                                           const std::string& option,
                                                           std::int64_t least,
                                                           std::int64_t greatest);

/// "512,1024": positive integers up to `greatest`, blanks around commas allowed, without
/// duplicates, in the order given. Error(usage) also for an empty list or element.
[[nodiscard]] std::vector<std::int64_t> parse_positive_list(std::string_view text,
                                                            const std::string& option,
                                                            std::int64_t greatest);

/// "fp16,bf16" in the same way.
[[nodiscard]] std::vector<DType> parse_dtype_list(std::string_view text, const std::string& option);

}  // namespace fatune
