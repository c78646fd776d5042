#include "cli/command_page.hpp"

#include <cctype>
#include <regex>
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
      const auto others = filtered(
          group.options, [&](const OptionPage* option) { return !is_among(option, common); });
      if (!others.empty()) {
        const auto name_of = [](const OptionPage* option) { return option->names.back(); };
        write_item(std::string(group.title), joined(others, ", ", name_of), kNamesColumn);
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

/// The command's option of that name; null: none.
const OptionPage* option_of(const CommandPage& page, const std::string& name) {
  return find_in(page.options, true,
                 [&](const OptionPage& option) { return is_among(name, option.names); });
}

/// The command's common options. Throws std::logic_error for a name that it does not have.
std::vector<const OptionPage*> common_options(const CommandPage& page) {
  return mapped(page.common, [&](const std::string& name) {
    const OptionPage* const option = option_of(page, name);
    if (option == nullptr) {
      fail(page, "has no " + name + ", which cli/read_pages.cpp lists");
    }
    return option;
  });
}

std::string line(const std::string& word, const std::string& description) {
  return description.empty() ? word + "\n" : fmt::format("{}\t{}\n", word, description);
}

/// The completions of a value of which `typed` is there already, behind `before`.
std::string value_completions(const ValueWords& value, std::string before, std::string_view typed) {
  std::vector<std::string_view> listed;
  while (value.several && typed.find(',') != typed.npos) {
    listed.push_back(take_until(typed, ','));
    before += fmt::format("{},", listed.back());
  }
  return fmt::format("{}\n{}{}{}\n", before, value.files ? "files " : "",
                     value.folders ? "folders " : "", value.several ? "list" : "") +
         joined(value.words, "", [&](const std::string& word) {
           return is_among(word, listed) ? "" : line(word, "");
         });
}

/// The state of a command line after the words that are complete.
class TypedLine {
 public:
  explicit TypedLine(const CommandPage& program) : page_(&program) {}

  void add(const std::string& word) {
    if (option_ != nullptr) {
      option_ = word == "=" ? option_ : nullptr;  // bash makes '=' a word of its own
    } else if (!only_arguments_ && word.starts_with('-')) {
      add_option(word);
    } else if (const CommandPage* const command = find_command(word)) {
      page_ = command;
      used_up_.clear();
    } else {
      ++arguments_;
    }
  }

  [[nodiscard]] std::string completions(const std::string& current) const {
    const std::size_t name_end = std::min(current.find('='), current.size());
    if (option_ != nullptr) {
      return value_completions(option_->completes, "", current == "=" ? "" : current);
    }
    if (only_arguments_ || !current.starts_with('-')) {
      return argument_completions(current);
    }
    const OptionPage* const option = option_of(*page_, current.substr(0, name_end));
    return option == nullptr || name_end == current.size()
               ? option_names()
               : value_completions(option->completes, current.substr(0, name_end + 1),
                                   std::string_view(current).substr(name_end + 1));
  }

 private:
  [[nodiscard]] const CommandPage* find_command(const std::string& word) const {
    const auto last_word = [](const CommandPage& command) { return command.words.back(); };
    return arguments_ == 0 ? find_in(page_->commands, word, last_word) : nullptr;
  }

  void add_option(const std::string& word) {
    only_arguments_ = word == "--";
    const std::size_t name_end = word.find('=');
    const OptionPage* const option = option_of(*page_, word.substr(0, name_end));
    if (option == nullptr) {
      return;
    }
    const bool takes_word = !option->value.empty() && !option->value_may_be_absent;
    option_ = takes_word && name_end == word.npos ? option : nullptr;
    append(used_up_, option->excludes);
    if (!option->repeatable) {
      append(used_up_, option->names);
    }
  }

  [[nodiscard]] std::string option_names() const {
    std::string text = "\n\n";
    for (const OptionPage& option : page_->options) {
      for (const std::string& name : option.names) {
        text += is_among(name, used_up_) ? ""
                : is_grouped(*page_)     ? line(name, option.group + ": " + option.doc)
                                         : line(name, option.doc);
      }
    }
    return text;
  }

  [[nodiscard]] std::string argument_completions(std::string_view current) const {
    const auto& arguments = page_->arguments;
    ValueWords value;
    if (arguments_ < arguments.size()) {
      value = arguments[arguments_].completes;
    } else if (!arguments.empty() && arguments.back().repeatable) {
      value = arguments.back().completes;
    }
    return value_completions(value, "", current) +
           joined(page_->commands, "", [&](const CommandPage& command) {
             return arguments_ == 0 ? line(command.words.back(), command.summary) : "";
           });
  }

  const CommandPage* page_;
  const OptionPage* option_ = nullptr;  ///< the option whose value is the next word, if any
  bool only_arguments_ = false;         ///< "--" was typed
  std::size_t arguments_ = 0;           ///< the number of the command's arguments so far
  std::vector<std::string> used_up_;    ///< names of options that cannot be given any more
};

/// Escapes a line for roff, which interprets a backslash, and a dot or a quote at its beginning. A
/// '-' becomes the one that can be typed.
std::string roff(std::string_view text) {
  std::string result = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    result += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '~' ? "\\(ti" : std::string(1, c);
  }
  return result;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string section(const char* title, const std::string& text) {
  return text.empty() ? std::string() : fmt::format(".SH {}\n{}", title, text);
}

/// A term, with an indented text below it.
std::string item(const std::string& term, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", term, roff(text));
}

std::string options_text(const CommandPage& page) {
  std::string text;
  for (const GroupOfOptions& group : grouped_options(page)) {
    text += group.title.empty() ? "" : fmt::format(".SS {}\n", group.title);
    for (const OptionPage* option : group.options) {
      text += item(option_term(*option, bold, italic), option_text(*option));
    }
  }
  return text;
}

std::string arguments_text(const CommandPage& page) {
  return joined(page.arguments, "", [](const ArgumentPage& argument) {
    return item(italic(argument.name), argument.doc);
  });
}

std::string commands_text(const CommandPage& page) {
  return joined(page.commands, "", [](const CommandPage& command) {
    return item(bold(command.words.back()), command.summary);
  });
}

/// Formats paragraphs. Indented lines stay as they are.
std::string prose(std::string_view text) {
  std::string result;
  bool verbatim = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const bool indented = line.starts_with(' ');
    result += indented == verbatim ? ""
              : verbatim           ? ".fi\n"
              : result.empty()     ? ".nf\n"
                                   : ".PP\n.nf\n";
    verbatim = indented;
    result += line.empty() ? (text.empty() ? "" : ".PP\n") : roff(line) + "\n";
  }
  return result + (verbatim ? ".fi\n" : "");
}

/// The summary, then the footer up to its examples.
std::string description(const CommandPage& page) {
  const std::string_view before = footer_parts(page).explanation;
  return roff(page.summary) + ".\n" + (before.empty() ? "" : ".PP\n" + prose(before));
}

/// A cell of a Markdown table without its markup. Links become the paths of documents.
std::string plain(std::string_view cell) {
  static const std::regex link(R"(\[[^\]]*\]\(([^)]*)\))");
  std::string text = std::regex_replace(std::string(trim(cell)), link, "docs/$1");
  std::erase(text, '`');
  return text;
}

/// The rows of a table of docs/reference.md: a term and its meaning.
std::string rows_of(const ManualEdition& edition, const std::string& heading) {
  std::string_view table = between(edition.reference, "\n## " + heading + "\n", "\n## ");
  std::string items;
  bool is_head = true;
  while (!table.empty()) {
    std::string_view line = take_until(table, '\n');
    if (line.starts_with("| ") && !std::exchange(is_head, false)) {
      take_until(line, '|');
      const std::string term = plain(take_until(line, '|'));
      items += item(bold(term), plain(take_until(line, '|')));
    }
  }
  return items;
}

std::string files() {
  return item(italic("fatune.toml"),
              "defaults of options, in the working folder or above: see docs/reference.md") +
         item(italic("~/.cache/fatune"), "compiled kernels; $XDG_CACHE_HOME moves it") +
         item(italic("~/.local/share/fatune/fatune.db"),
              "everything that was measured; $XDG_DATA_HOME moves it");
}

std::string reference(const CommandPage& page) {
  return fmt::format("\\fB{}\\fR(1)", roff(command_text(page, "-")));
}

/// The pages above and below this one.
std::string see_also(const CommandPage& page, const CommandPage& program) {
  std::vector<std::string> pages;
  for (const CommandPage* other : all_pages(program)) {
    const std::size_t depth = std::min(page.words.size(), other->words.size());
    const bool related =
        std::equal(page.words.begin(), page.words.begin() + static_cast<std::ptrdiff_t>(depth),
                   other->words.begin());
    if (related && other != &page) {
      pages.push_back(reference(*other));
    }
  }
  return fmt::format("{}\n", fmt::join(pages, ",\n"));
}

std::string title(const CommandPage& page, const ManualEdition& edition) {
  std::string name = command_text(page, "-");
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format(".TH {} 1 {} \"fatune {}\" \"fatune manual\"\n", roff(name), edition.date,
                     edition.version);
}

}  // namespace

std::string completions(const CommandPage& program, std::span<const std::string> typed) {
  TypedLine before(program);
  for (std::size_t i = 0; i + 1 < typed.size(); ++i) {
    before.add(typed[i]);
  }
  return before.completions(typed.empty() ? std::string() : typed.back());
}

std::string manual_page(const CommandPage& page, const CommandPage& program,
                        const ManualEdition& edition) {
  const bool is_program = page.words.size() == 1;
  return title(page, edition) +
         section("NAME",
                 fmt::format("{} \\- {}\n", roff(command_text(page, "-")), roff(page.summary))) +
         section("SYNOPSIS", synopsis(page, bold, italic) + "\n") +
         section("DESCRIPTION", description(page)) + section("COMMANDS", commands_text(page)) +
         section("ARGUMENTS", arguments_text(page)) + section("OPTIONS", options_text(page)) +
         section("EXAMPLES", prose(footer_parts(page).examples)) +
         section("EXIT STATUS", rows_of(edition, "Exit codes")) +
         (is_program
              ? section("ENVIRONMENT", rows_of(edition, "Environment")) + section("FILES", files())
              : section("ENVIRONMENT", "See " + reference(program) + ".\n") +
                    section("FILES", "See " + reference(program) + ".\n")) +
         section("SEE ALSO", see_also(page, program));
}

std::vector<const CommandPage*> all_pages(const CommandPage& page) {
  std::vector<const CommandPage*> pages{&page};
  for (const CommandPage& command : page.commands) {
    append(pages, all_pages(command));
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
    return {{{}, mapped(page.options, [](const OptionPage& option) { return &option; })}};
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
