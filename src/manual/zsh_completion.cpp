#include <fmt/format.h>
#include <fmt/ranges.h>

#include "manual/completion.hpp"
#include "manual/option_groups.hpp"
#include "manual/page_walk.hpp"

namespace fatune {
namespace {

constexpr const char* kZshHead = R"zsh(#compdef fatune
# Completes fatune's command line in zsh; made by 'fatune completion zsh'.

_fatune_words_or_files() {
  _alternative "words:word:($*)" 'files:file:_files'
}

)zsh";

constexpr const char* kZshTail = R"(
if [[ $funcstack[1] == _fatune ]]; then
  _fatune "$@"
else
  compdef _fatune fatune
fi
)";

/// Puts a backslash before each character of `special`.
std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    result += special.find(c) == std::string_view::npos ? "" : "\\";
    result += c;
  }
  return result;
}

/// Quotes a text as one word of the shell, in single quotes.
std::string zsh_word(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

std::string zsh_action(const ValueWords& value) {
  const std::string words = fmt::format("{}", fmt::join(value.words, " "));
  if (value.several && !words.empty()) {
    return " _sequence compadd - " + words;
  }
  if (value.files || value.folders) {
    return !words.empty() ? " _fatune_words_or_files " + words
           : value.files  ? "_files"
                          : "_files -/";
  }
  return words.empty() ? " " : "(" + words + ")";
}

/// For example ":LIST:(a b)".
std::string value_spec(const std::string& value, const ValueWords& completes) {
  return ":" + escaped(value, ":\\") + ":" + zsh_action(completes);
}

std::vector<std::string> option_specs(const CommandPage& page, const OptionPage& option) {
  std::vector<std::string> excluded = option.excludes;
  excluded.insert(excluded.end(), option.names.begin(), option.names.end());
  const std::string before =
      option.repeatable ? "*" : fmt::format("({})", fmt::join(excluded, " "));
  std::vector<std::string> specs;
  for (const std::string& name : option.names) {
    const bool joins = takes_word(option) && name.starts_with("--");
    specs.push_back(zsh_word(fmt::format(
        "{}{}{}[{}]{}", before, name, joins ? "=" : "",
        escaped(completion_hint(page, option), "[]:\\"),
        takes_word(option) ? value_spec(option.value, option.completes) : std::string())));
  }
  return specs;
}

std::string argument_spec(const ArgumentPage& argument, std::size_t number) {
  const std::string place = argument.repeatable ? "*" : fmt::format("{}", number);
  return zsh_word(place + value_spec(argument.name, argument.completes));
}

std::vector<std::string> specs_of(const CommandPage& page) {
  std::vector<std::string> specs;
  for (const OptionPage& option : page.options) {
    const auto more = option_specs(page, option);
    specs.insert(specs.end(), more.begin(), more.end());
  }
  for (std::size_t i = 0; page.commands.empty() && i < page.arguments.size(); ++i) {
    specs.push_back(argument_spec(page.arguments[i], i + 1));
  }
  return specs;
}

std::string function_name(const CommandPage& page) { return "_" + command_text(page, "_"); }

/// The function of a command without subcommands.
std::string leaf_function(const CommandPage& page) {
  return fmt::format("{}() {{\n  _arguments -s -S \\\n    {}\n}}\n\n", function_name(page),
                     fmt::join(specs_of(page), " \\\n    "));
}

/// The function of a command with subcommands.
std::string parent_function(const CommandPage& page) {
  std::string described;
  std::string cases;
  for (const CommandPage& command : page.commands) {
    described +=
        "        " + zsh_word(command.words.back() + ":" + escaped(command.summary, ":\\")) + "\n";
    cases += fmt::format("        {}) {} && result=0 ;;\n", command.words.back(),
                         function_name(command));
  }
  return fmt::format(R"({}() {{
  local curcontext=$curcontext state line result=1
  local -A opt_args
  local -a commands
  _arguments -s -S -C \
    {} \
    '1: :->command' \
    '*:: :->argument' && result=0
  case $state in
    command)
      commands=(
{}      )
      _describe -t commands command commands && result=0
      ;;
    argument)
      case $words[1] in
{}      esac
      ;;
  esac
  return result
}}
)",
                     function_name(page), fmt::join(specs_of(page), " \\\n    "), described, cases);
}

}  // namespace

std::string zsh_completion(const CommandPage& program) {
  std::string text = kZshHead;
  for (const CommandPage* page : all_pages(program)) {
    text += page->commands.empty() ? leaf_function(*page) : parent_function(*page) + "\n";
  }
  text.pop_back();
  return text + kZshTail;
}

}  // namespace fatune
