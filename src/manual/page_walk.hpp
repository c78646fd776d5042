#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "manual/command_page.hpp"

namespace fatune {

/// The page and the pages of all commands below it, in the order of the help.
[[nodiscard]] std::vector<const CommandPage*> all_pages(const CommandPage& page);

/// The command's words: "fatune sass map". `separator` replaces the blanks.
[[nodiscard]] std::string command_text(const CommandPage& page, const std::string& separator = " ");

/// The command line in short: "fatune sass diff [OPTIONS] A B". `literal` and `placeholder` mark up
/// what is typed as it is, and what stands for something else.
using Markup = std::function<std::string(std::string_view)>;
[[nodiscard]] std::string synopsis(const CommandPage& page, const Markup& literal,
                                   const Markup& placeholder);

/// An option's names and the kind of its value: "-o, --out FILE".
[[nodiscard]] std::string option_term(const OptionPage& option, const Markup& literal,
                                      const Markup& placeholder);

/// What an option does, whether it is required, and which options it needs and excludes.
[[nodiscard]] std::string option_text(const OptionPage& option);

/// The two parts of a footer.
struct FooterParts {
  std::string_view explanation;
  std::string_view examples;  ///< the lines below "Examples:"
};
[[nodiscard]] FooterParts footer_parts(const CommandPage& page);

}  // namespace fatune
