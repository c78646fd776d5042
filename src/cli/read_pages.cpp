#include "cli/read_pages.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "cli/value_words.hpp"

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
  for (const CLI::Option* other : option.get_excludes()) {
    const auto names = typed_names(*other);
    page.excludes.insert(page.excludes.end(), names.begin(), names.end());
  }
  std::ranges::sort(page.excludes);
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

CommandPage read_page(const CLI::App& app, std::vector<std::string> words) {
  words.push_back(app.get_name());
  CommandPage page{.words = words,
                   .summary = app.get_description(),
                   .footer = app.get_footer(),
                   .options = {},
                   .arguments = {},
                   .commands = {}};
  read_options(app, page);
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); })) {
    page.commands.push_back(read_page(*command, words));
  }
  return page;
}

}  // namespace

CommandPage read_pages(const CLI::App& app) { return read_page(app, {}); }

}  // namespace fatune
