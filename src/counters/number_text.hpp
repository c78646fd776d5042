#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fatune {

/// The way a program writes numbers, which depends on the locale it ran under.
struct NumberStyle {
  char decimal = '.';  ///< '.' or ','; the other one, blanks and apostrophes may group digits
};

/// Reads a number in that style: "33,742", "1.80", "33.742,5", "33 742" (also with the no-break
/// spaces U+00A0 and U+202F), "1'234.5" (also U+2019), "1.5e+06". Returns nothing if `text` is not
/// a number ("no data", "n/a", "nan"), or digits are not grouped by three.
[[nodiscard]] std::optional<double> read_number(std::string_view text, NumberStyle style);

/// The style of these texts: the one that reads every number. Texts that are not numbers are
/// ignored. If both styles read all ("1,234" alone), it is the one that groups digits, because
/// Nsight Compute writes two decimals or six, never three. Error(bad_file) names `source` if
/// neither reads all, or the texts contradict each other ("1,234" beside "5.678").
[[nodiscard]] NumberStyle find_number_style(std::span<const std::string_view> texts,
                                            const std::string& source);

}  // namespace fatune
