#include "manual/page_walk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/mapped.hpp"

namespace fatune {
namespace {

std::string names_text(const char* verb, const std::vector<std::string>& names) {
  return names.empty() ? std::string() : fmt::format("; {} {}", verb, fmt::join(names, ", "));
}

}  // namespace

std::vector<const CommandPage*> all_pages(const CommandPage& page) {
  std::vector<const CommandPage*> pages{&page};
  for (const CommandPage& command : page.commands) {
    const auto inner = all_pages(command);
    pages.insert(pages.end(), inner.begin(), inner.end());
  }
  return pages;
}

std::string command_text(const CommandPage& page, const std::string& separator) {
  return fmt::format("{}", fmt::join(page.words, separator));
}

std::string synopsis(const CommandPage& page, const Markup& literal, const Markup& placeholder) {
  std::string line = literal(command_text(page)) + " [" + placeholder("OPTIONS") + "]";
  for (const ArgumentPage& argument : page.arguments) {
    const std::string name = placeholder(argument.name) + (argument.repeatable ? "..." : "");
    line += argument.required ? " " + name : " [" + name + "]";
  }
  return line + (page.commands.empty() ? "" : " [" + placeholder("COMMAND") + " ...]");
}

std::string option_term(const OptionPage& option, const Markup& literal,
                        const Markup& placeholder) {
  const std::string value = option.value.empty() ? "" : placeholder(option.value);
  return fmt::format("{}{}", fmt::join(mapped(option.names, literal), ", "),
                     value.empty()                ? ""
                     : option.value_may_be_absent ? " [" + value + "]"
                                                  : " " + value);
}

std::string option_text(const OptionPage& option) {
  return option.doc + (option.required ? "; required" : "") + names_text("needs", option.needs) +
         names_text("excludes", option.excludes);
}

FooterParts footer_parts(const CommandPage& page) {
  constexpr std::string_view kExamples = "Examples:\n";
  const std::string_view footer = page.footer;
  const std::size_t at = footer.find(kExamples);
  FooterParts parts{footer.substr(0, at),
                    at == footer.npos ? "" : footer.substr(at + kExamples.size())};
  while (parts.explanation.ends_with('\n')) {
    parts.explanation.remove_suffix(1);
  }
  return parts;
}

}  // namespace fatune
