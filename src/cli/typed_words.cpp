#include "cli/typed_words.hpp"

#include <algorithm>

namespace fatune {
namespace {

/// Returns the option of any of the commands that a word names: "--seq", "--seq=512", "-q".
const CLI::Option* named_option(const std::vector<const CLI::App*>& commands,
                                const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (const CLI::App* command : commands) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->nonpositional() && option->check_name(name)) {
        return option;
      }
    }
  }
  return nullptr;
}

}  // namespace

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* option : app.get_options()) {
    if (std::ranges::count(option->get_lnames(), name) != 0) {
      return option;
    }
  }
  return nullptr;
}

TypedWords read_typed_words(const CLI::App& program, const std::vector<std::string>& words) {
  TypedWords typed{{&program}, 0, {}};
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i].starts_with('-')) {
      const CLI::Option* const option = named_option(typed.commands, words[i]);
      if (option != nullptr) {
        typed.options.insert(option);
        const bool joined = words[i].find('=') != std::string::npos;
        i += !joined && option->get_items_expected_min() > 0 ? 1U : 0U;
      }
    } else if (const CLI::App* next = find_command(*typed.commands.back(), words[i])) {
      typed.commands.push_back(next);
      typed.behind_command = i + 1;
    }
  }
  return typed;
}

std::optional<std::string> typed_value(const std::vector<std::string>& words,
                                       const std::string& option) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i] == option) {
      return i + 1 < words.size() ? std::optional(words[i + 1]) : std::nullopt;
    }
    if (words[i].starts_with(option + "=")) {
      return words[i].substr(option.size() + 1);
    }
  }
  return std::nullopt;
}

}  // namespace fatune
