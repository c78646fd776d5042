#include "manual/command_page.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/ranges.hpp"

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

namespace {

constexpr std::size_t kFewOptions = 16;

[[noreturn]] void fail(const CommandPage& page, const std::string& what) {
  throw std::logic_error("'" + command_text(page) + "' " + what);
}

GroupOfOptions all_options(const CommandPage& page) {
  GroupOfOptions all;
  for (const OptionPage& option : page.options) {
    all.options.push_back(&option);
  }
  return all;
}

}  // namespace

bool is_grouped(const CommandPage& page) { return page.options.size() > kFewOptions; }

std::vector<GroupOfOptions> grouped_options(const CommandPage& page) {
  if (!is_grouped(page)) {
    return {all_options(page)};
  }
  std::vector<GroupOfOptions> groups;
  for (const std::string_view title : kOptionGroups) {
    groups.push_back({title, {}});
  }
  for (const OptionPage& option : page.options) {
    const auto group = std::ranges::find(groups, option.group, &GroupOfOptions::title);
    if (group == groups.end()) {
      fail(page, "has " + option.names.back() + " in no group; see cli/option.hpp");
    }
    group->options.push_back(&option);
  }
  std::erase_if(groups, [](const GroupOfOptions& group) { return group.options.empty(); });
  return groups;
}

std::vector<const OptionPage*> common_options(const CommandPage& page) {
  std::vector<const OptionPage*> common;
  for (const std::string& name : page.common) {
    const auto option = std::ranges::find_if(
        page.options, [&](const OptionPage& one) { return is_among(name, one.names); });
    if (option == page.options.end()) {
      fail(page, "has no " + name + ", which cli/common_options.hpp lists");
    }
    common.push_back(&*option);
  }
  return common;
}

}  // namespace fatune
