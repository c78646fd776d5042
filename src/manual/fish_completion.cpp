#include <fmt/format.h>
#include <fmt/ranges.h>

#include "manual/completion.hpp"
#include "manual/option_groups.hpp"
#include "manual/page_walk.hpp"

namespace fatune {
namespace {

/// Quotes a text as one word of fish, in single quotes.
std::string fish_word(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' || c == '\\' ? "\\" : "";
    result += c;
  }
  return result + "'";
}

/// A command without the program's name: "sass map". Empty for the program itself.
std::string place_of(const CommandPage& page) {
  return fmt::format("{}", fmt::join(page.words.begin() + 1, page.words.end(), " "));
}

/// A function that tells which commands were typed so far. An option's value may be spelt like a
/// command: if a command may follow, options that take a value hide the word after them.
std::string place_function(const CommandPage& program) {
  std::vector<std::string> valued;
  std::vector<std::string> places;
  for (const CommandPage* page : all_pages(program)) {
    places.push_back(fish_word(place_of(*page)));
    for (const OptionPage& option : page->options) {
      if (!page->commands.empty() && takes_word(option)) {
        valued.insert(valued.end(), option.names.begin(), option.names.end());
      }
    }
  }
  return fmt::format(R"(function __fatune_at
    set -l at
    set -l is_value no
    for word in (commandline -opc)[2..-1]
        if test $is_value = yes
            set is_value no
        else if contains -- $word {0}
            set is_value yes
        else if contains -- (string join ' ' $at $word) {1}
            set -a at $word
        end
    end
    test "$at" = "$argv"
end
)",
                     fmt::join(valued, " "), fmt::join(places.begin() + 1, places.end(), " "));
}

/// The switches that complete a value, and say whether files do.
std::string value_switches(const ValueWords& value) {
  const std::string words = fmt::format("{}", fmt::join(value.words, " "));
  if (value.several && !words.empty()) {
    return " -f -a " + fish_word("(__fish_append , " + words + ")");
  }
  std::string text = value.files ? " -F" : " -f";
  if (value.folders && !value.files) {
    text += " -a '(__fish_complete_directories)'";
  }
  return words.empty() ? text : text + " -a " + fish_word(words);
}

/// The beginning of all lines of a command.
std::string line_head(const CommandPage& page) {
  return "complete -c fatune -n " + fish_word("__fatune_at " + place_of(page));
}

std::string option_line(const CommandPage& page, const OptionPage& option) {
  std::string line = line_head(page);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  line += takes_word(option) ? " -r" + value_switches(option.completes) : "";
  return line + " -d " + fish_word(completion_hint(page, option)) + "\n";
}

std::string lines_of(const CommandPage& page) {
  std::string text;
  for (const CommandPage& command : page.commands) {
    text += line_head(page) + " -a " + command.words.back() + " -d " + fish_word(command.summary) +
            "\n";
  }
  for (const OptionPage& option : page.options) {
    text += option_line(page, option);
  }
  if (!page.arguments.empty()) {
    text += line_head(page) + value_switches(page.arguments.front().completes) + "\n";
  }
  return text;
}

}  // namespace

std::string fish_completion(const CommandPage& program) {
  std::string text =
      "# Completes fatune's command line in fish; made by 'fatune completion fish'.\n\n" +
      place_function(program) + "\ncomplete -c fatune -f\n";
  for (const CommandPage* page : all_pages(program)) {
    text += lines_of(*page);
  }
  return text;
}

}  // namespace fatune
