#include "cli/read_pages.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cli/common_options.hpp"
#include "cli/value_words.hpp"
#include "core/text_parts.hpp"
#include "manual/command_page.hpp"

namespace fatune {
namespace {

bool is_repeatable(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::vector<std::string> typed_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) {
    names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> all;
  for (const CLI::Option* option : options) {
    const auto names = typed_names(*option);
    all.insert(all.end(), names.begin(), names.end());
  }
  std::ranges::sort(all);
  return all;
}

OptionPage read_option(const CLI::Option& option) {
  OptionPage page;
  page.names = typed_names(option);
  page.doc = option.get_description();
  if (option.get_items_expected_max() > 0) {
    page.value = option.get_type_name();
    page.completes = value_words(page.value);
    page.value_may_be_absent = option.get_items_expected_min() == 0;
  }
  page.repeatable = is_repeatable(option);
  page.required = option.get_required();
  page.needs = names_of(option.get_needs());
  page.excludes = names_of(option.get_excludes());
  page.group = option.get_group();
  return page;
}

ArgumentPage read_argument(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return {option.get_name(true),    type,
          option.get_description(), value_words(type),
          option.get_required(),    is_repeatable(option)};
}

void read_options(const CLI::App& app, CommandPage& page) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      page.arguments.push_back(read_argument(*option));
    } else if (!option->get_group().empty()) {
      page.options.push_back(read_option(*option));
    }
  }
}

/// A command whose help always describes all of its options does not offer a longer one.
void leave_out_needless_help(const CLI::App& app, CommandPage& page) {
  if (!is_grouped(page)) {
    std::erase_if(page.options, [&](const OptionPage& option) {
      return option.names == typed_names(*app.get_help_all_ptr());
    });
  }
}

std::vector<std::string> words_of(const CLI::App& app) {
  std::vector<std::string> words =
      app.get_parent() == nullptr ? std::vector<std::string>() : words_of(*app.get_parent());
  words.push_back(app.get_name());
  return words;
}

}  // namespace

CommandPage read_pages(const CLI::App& app) {
  const std::vector<std::string> words = words_of(app);
  CommandPage page{.words = words,
                   .summary = app.get_description(),
                   .footer = app.get_footer(),
                   .options = {},
                   .common = common_option_names(joined(std::span(words).subspan(1), " ")),
                   .arguments = {},
                   .commands = {}};
  read_options(app, page);
  leave_out_needless_help(app, page);
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); })) {
    page.commands.push_back(read_pages(*command));
  }
  return page;
}

}  // namespace fatune
