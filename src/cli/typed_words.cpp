#include "cli/typed_words.hpp"

#include <algorithm>
#include <numeric>

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

/// Levenshtein distance: insertions, deletions and replacements that turn one into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
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

std::string closest_word(std::string_view typed, const std::vector<std::string>& words) {
  constexpr std::size_t kLongestTyped = 32;
  constexpr std::size_t kFarthest = 2;
  if (typed.empty() || typed.size() > kLongestTyped) {
    return {};
  }
  for (const std::string& word : words) {
    if (word.starts_with(typed)) {
      return word;
    }
  }
  const auto nearest = std::ranges::min_element(words, [&](const auto& a, const auto& b) {
    return edit_distance(typed, a) < edit_distance(typed, b);
  });
  const bool close = nearest != words.end() && edit_distance(typed, *nearest) <= kFarthest;
  return close ? *nearest : std::string();
}

}  // namespace fatune
