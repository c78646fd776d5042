#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "manual/completion.hpp"
#include "manual/page_walk.hpp"

namespace fatune {
namespace {

constexpr const char* kBashHead =
    R"(# Completes fatune's command line in bash; made by 'fatune completion bash'.

# Sets what a command ("fatune sass") has: its commands, its options, and those that take a value.
_fatune_command() {
  case $1 in
)";

constexpr const char* kBashBetween = R"(  esac
}

# Sets what completes the value of an option ("fatune sass --arch"), or an argument of a command
# ("fatune sass argument"): words; files, folders or a list of the words.
_fatune_value() {
  words= files= folders= list=
  case $1 in
)";

constexpr const char* kBashTail = R"(  esac
}

_fatune() {
  local commands options valued words files folders list
  local command=fatune option= current=${COMP_WORDS[COMP_CWORD]} word i
  _fatune_command fatune
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == = && -n $option ]]; then
      continue # bash makes '=' a word of its own
    elif [[ -n $option ]]; then
      option=
    elif [[ -n $word && " $valued " == *" $word "* ]]; then
      option=$word
    elif [[ -n $word && " $commands " == *" $word "* ]]; then
      command+=" $word"
      _fatune_command "$command"
    fi
  done
  if [[ -n $option ]]; then
    if [[ $current == = ]]; then current=; fi
    _fatune_value "$command $option"
  elif [[ $current == -* ]]; then
    words=$options files= folders= list=
  else
    _fatune_value "$command argument"
    words+=" $commands"
  fi
  local before=
  if [[ -n $list ]]; then
    if [[ $current == *,* ]]; then before=${current%,*},; fi
    compopt -o nospace 2>/dev/null
  fi
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${current#"$before"}")
  if [[ -n $files || -n $folders ]]; then
    compopt -o filenames 2>/dev/null
    local action=file
    if [[ -z $files ]]; then action=directory; fi
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -A "$action" -- "$current")
  fi
}
complete -F _fatune fatune
)";

std::string command_case(const CommandPage& page) {
  std::vector<std::string> commands;
  std::vector<std::string> options;
  std::vector<std::string> valued;
  for (const CommandPage& command : page.commands) {
    commands.push_back(command.words.back());
  }
  for (const OptionPage& option : page.options) {
    options.insert(options.end(), option.names.begin(), option.names.end());
    if (takes_word(option)) {
      valued.insert(valued.end(), option.names.begin(), option.names.end());
    }
  }
  return fmt::format(
      "    '{}')\n      commands='{}'\n      options='{}'\n      valued='{}'\n      ;;\n",
      command_text(page), fmt::join(commands, " "), fmt::join(options, " "),
      fmt::join(valued, " "));
}

std::string value_text(const ValueWords& value) {
  std::string text;
  if (!value.words.empty()) {
    text += fmt::format(" words='{}'", fmt::join(value.words, " "));
  }
  text += value.files ? " files=yes" : "";
  text += value.folders ? " folders=yes" : "";
  text += value.several ? " list=yes" : "";
  return text;
}

/// Each way to complete a value, with the values that it completes, in the order of the help.
using ValueCases = std::vector<std::pair<std::string, std::vector<std::string>>>;

void add_case(const std::string& what, const ValueWords& value, ValueCases& cases) {
  const std::string text = value_text(value);
  if (text.empty()) {
    return;
  }
  for (auto& [known, all] : cases) {
    if (known == text) {
      all.push_back(what);
      return;
    }
  }
  cases.emplace_back(text, std::vector{what});
}

ValueCases value_cases(const CommandPage& program) {
  ValueCases cases;
  for (const CommandPage* page : all_pages(program)) {
    const std::string command = command_text(*page);
    for (const OptionPage& option : page->options) {
      for (const std::string& name : option.names) {
        add_case(fmt::format("'{} {}'", command, name), option.completes, cases);
      }
    }
    if (!page->arguments.empty()) {
      add_case(fmt::format("'{} argument'", command), page->arguments.front().completes, cases);
    }
  }
  return cases;
}

}  // namespace

std::string bash_completion(const CommandPage& program) {
  std::string text = kBashHead;
  for (const CommandPage* page : all_pages(program)) {
    text += command_case(*page);
  }
  text += kBashBetween;
  for (const auto& [value, all] : value_cases(program)) {
    text += fmt::format("    {})\n     {}\n      ;;\n", fmt::join(all, " | \\\n      "), value);
  }
  return text + kBashTail;
}

}  // namespace fatune
