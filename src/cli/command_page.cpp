#include "cli/command_page.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "base/visible_text.hpp"

namespace fatune {
namespace {

std::string names_text(const char* verb, const std::vector<std::string>& names) {
  return names.empty() ? std::string() : fmt::format("; {} {}", verb, fmt::join(names, ", "));
}

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

constexpr std::size_t kInset = 2;
constexpr std::size_t kGap = 1;  ///< the least gap between a term and its text

std::string unmarked(std::string_view text) { return std::string(text); }

class HelpWriter {
 public:
  HelpWriter(const CommandPage& page, std::size_t columns) : page_(page), columns_(columns) {}

  void write_head() {
    text_ += wrapped_lines(page_.summary, columns_) + "\n" +
             wrapped_lines("Usage: " + synopsis(page_, unmarked, unmarked), columns_) + "\n";
    begin_section(page_.arguments.empty() ? "" : "Arguments");
    for (const ArgumentPage& argument : page_.arguments) {
      write_item(argument.name, argument.doc, text_column());
    }
  }

  void write_options(std::string_view title, const std::vector<const OptionPage*>& options) {
    begin_section(title);
    for (const OptionPage* option : options) {
      write_item(option_term(*option, unmarked, unmarked), option_text(*option), text_column());
    }
  }

  /// Names the options of each group that are not among the common ones.
  void write_names(const std::vector<const OptionPage*>& common) {
    constexpr std::size_t kNamesColumn = 13;
    begin_section(fmt::format("More options, described by '{} --help-all' and 'man {}'",
                              command_text(page_), command_text(page_, "-")));
    for (const GroupOfOptions& group : grouped_options(page_)) {
      std::vector<std::string> names;
      for (const OptionPage* option : group.options) {
        if (!is_among(option, common)) {
          names.push_back(option->names.back());
        }
      }
      if (!names.empty()) {
        write_item(std::string(group.title), fmt::format("{}", fmt::join(names, ", ")),
                   kNamesColumn);
      }
    }
  }

  void write_tail() {
    begin_section(page_.commands.empty() ? "" : "Commands");
    for (const CommandPage& command : page_.commands) {
      write_item(command.words.back(), command.summary, text_column());
    }
    const FooterParts footer = footer_parts(page_);
    text_ += footer.explanation.empty() ? "" : "\n";
    write_prose(footer.explanation);
    begin_section(footer.examples.empty() ? "" : "Examples");
    text_ += footer.examples;
    text_ += text_.ends_with('\n') ? "" : "\n";
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void begin_section(std::string_view title) {
    text_ += title.empty() ? "" : "\n" + wrapped_lines(fmt::format("{}:", title), columns_) + "\n";
  }

  /// Where the texts of options begin: on the next line if the terminal is narrow.
  [[nodiscard]] std::size_t text_column() const {
    constexpr std::size_t kWide = 60;
    return columns_ >= kWide ? 24 : 6;
  }

  /// Writes a term, and its text beside it, or below it if the term reaches beyond `column`.
  void write_item(const std::string& term, const std::string& text, std::size_t column) {
    text_ += std::string(kInset, ' ') + term;
    const std::size_t used = kInset + width_of(term);
    std::string before =
        used + kGap > column ? "\n" + std::string(column, ' ') : std::string(column - used, ' ');
    for (const std::string& line : wrapped(text, columns_ - column)) {
      text_ += before + line + "\n";
      before = std::string(column, ' ');
    }
  }

  /// Fills the lines of each paragraph. Indented lines stay lines.
  void write_prose(std::string_view prose) {
    std::string paragraph;
    const auto end_paragraph = [&] {
      for (const std::string& line : wrapped(paragraph, columns_)) {
        text_ += paragraph.empty() ? "" : line + "\n";
      }
      paragraph.clear();
    };
    while (!prose.empty()) {
      const std::string_view line = take_until(prose, '\n');
      if (line.empty() || line.starts_with(' ')) {
        end_paragraph();
        text_ += wrapped_lines(line, columns_) + "\n";
      } else {
        paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
      }
    }
    end_paragraph();
  }

  const CommandPage& page_;
  std::size_t columns_;
  std::string text_;
};

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

bool is_grouped(const CommandPage& page) { return page.options.size() > kFewOptions; }

std::vector<GroupOfOptions> grouped_options(const CommandPage& page) {
  if (!is_grouped(page)) {
    return {all_options(page)};
  }
  std::vector<GroupOfOptions> groups = mapped(kOptionGroups, [&](const std::string_view title) {
    return GroupOfOptions{title, {}};
  });
  for (const OptionPage& option : page.options) {
    const auto group = std::ranges::find(groups, option.group, &GroupOfOptions::title);
    if (group == groups.end()) {
      fail(page, "has " + option.names.back() + " in no group; see cli/option_groups.hpp");
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
      fail(page, "has no " + name + ", which cli/read_pages.cpp lists");
    }
    common.push_back(&*option);
  }
  return common;
}

std::string help_text(const CommandPage& page, HelpExtent extent, std::size_t columns) {
  HelpWriter help(page, columns);
  help.write_head();
  if (extent == HelpExtent::common && is_grouped(page)) {
    const auto common = common_options(page);
    help.write_options("Common options", common);
    help.write_names(common);
  } else {
    for (const GroupOfOptions& group : grouped_options(page)) {
      help.write_options(group.title.empty() ? "Options" : group.title, group.options);
    }
  }
  help.write_tail();
  return help.text();
}

}  // namespace fatune
