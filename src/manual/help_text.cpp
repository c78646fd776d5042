#include "manual/help_text.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/ranges.hpp"
#include "core/text_parts.hpp"
#include "core/visible_text.hpp"
#include "manual/command_page.hpp"

namespace fatune {
namespace {

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
