#include "manual/command_page.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/ranges.hpp"
#include "core/text_parts.hpp"

namespace fatune {
namespace {

bool takes_word(const OptionPage& option) {
  return !option.value.empty() && !option.value_may_be_absent;
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
  std::string text = fmt::format("{}\n{}{}{}\n", before, value.files ? "files " : "",
                                 value.folders ? "folders " : "", value.several ? "list" : "");
  for (const std::string& word : value.words) {
    text += is_among(word, listed) ? "" : line(word, "");
  }
  return text;
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
    } else if (const auto command = find_command(word); command != page_->commands.end()) {
      page_ = &*command;
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
    const auto option = find_option(current.substr(0, name_end));
    return option == page_->options.end() || name_end == current.size()
               ? option_names()
               : value_completions(option->completes, current.substr(0, name_end + 1),
                                   std::string_view(current).substr(name_end + 1));
  }

 private:
  [[nodiscard]] std::vector<CommandPage>::const_iterator find_command(
      const std::string& word) const {
    return std::ranges::find_if(page_->commands, [&](const CommandPage& command) {
      return arguments_ == 0 && command.words.back() == word;
    });
  }

  [[nodiscard]] std::vector<OptionPage>::const_iterator find_option(const std::string& name) const {
    return std::ranges::find_if(
        page_->options, [&](const OptionPage& option) { return is_among(name, option.names); });
  }

  void add_option(const std::string& word) {
    only_arguments_ = word == "--";
    const std::size_t name_end = word.find('=');
    const auto option = find_option(word.substr(0, name_end));
    if (option == page_->options.end()) {
      return;
    }
    option_ = takes_word(*option) && name_end == word.npos ? &*option : nullptr;
    used_up_.insert(used_up_.end(), option->excludes.begin(), option->excludes.end());
    if (!option->repeatable) {
      used_up_.insert(used_up_.end(), option->names.begin(), option->names.end());
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
    std::string text = value_completions(value, "", current);
    for (const CommandPage& command : page_->commands) {
      text += arguments_ == 0 ? line(command.words.back(), command.summary) : "";
    }
    return text;
  }

  const CommandPage* page_;
  const OptionPage* option_ = nullptr;  ///< the option whose value is the next word, if any
  bool only_arguments_ = false;         ///< "--" was typed
  std::size_t arguments_ = 0;           ///< the number of the command's arguments so far
  std::vector<std::string> used_up_;    ///< names of options that cannot be given any more
};

}  // namespace

std::string completions(const CommandPage& program, std::span<const std::string> typed) {
  TypedLine before(program);
  for (std::size_t i = 0; i + 1 < typed.size(); ++i) {
    before.add(typed[i]);
  }
  return before.completions(typed.empty() ? std::string() : typed.back());
}

}  // namespace fatune
