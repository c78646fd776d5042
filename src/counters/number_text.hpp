#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fatune {

/// How a program writes numbers, which depends on the locale it ran under.
struct NumberStyle {
  char decimal = '.';  ///< '.' or ','; the other one, blanks and apostrophes may group digits
};

/// The number that `text` is in that style: "33,742", "1.80", "33.742,5", "33 742" (also with
/// the no-break spaces U+00A0 and U+202F), "1'234.5" (also U+2019), "1.5e+06". Nothing when it is
/// none ("no data", "n/a", "nan"), or digits are not grouped by three.
[[nodiscard]] std::optional<double> read_number(std::string_view text, NumberStyle style);

/// The style in which these texts were written, those that are no numbers left out: the one that
/// reads every number. Where both do ("1,234" alone), the one that groups digits: Nsight Compute
/// writes two decimals or six, never three. Error(bad_file) naming `source` when neither reads all,
/// or that does not decide it ("1,234" beside "5.678").
[[nodiscard]] NumberStyle find_number_style(std::span<const std::string_view> texts,
                                            const std::string& source);

}  // namespace fatune
