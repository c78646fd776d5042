#include "cli/read_pages.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/value_words.hpp"
#include "core/text_parts.hpp"
#include "manual/command_page.hpp"

namespace fatune {
namespace {

struct CommonOptions {
  std::string_view command;
  std::string_view names;
};

/// A command with many options has at most ten of these.
constexpr std::array kCommonOptions{
    CommonOptions{"sweep",
                  "--preset --seq --dhead --dtype --causal --space --device --search --out "
                  "--format"},
    CommonOptions{"run",
                  "--config --preset --seq --causal --batch --heads --runs --device --out "
                  "--format"},
    CommonOptions{"verify-winner", "--tolerance --budget --family --device --best --db --format"},
    CommonOptions{"cases",
                  "--preset --seq --dhead --dtype --causal --heads --device --budget --format"},
    CommonOptions{"check",
                  "--config --space --small --seq --causal --seeds --diff --sanitizer --device "
                  "--format"},
    CommonOptions{"debug",
                  "--config --init --seq --seq-blocks --causal --out --kernel-dir --device "
                  "--format"},
    CommonOptions{"emulate",
                  "--config --space --seq --causal --schedules --check --profile --strict --arch "
                  "--format"},
    CommonOptions{"list",
                  "--space --family --kernel-dir --seq --dhead --arch --pruned --presets --filter "
                  "--format"},
    CommonOptions{"compile",
                  "--config --space --family --kernel-dir --seq --arch --out --ptx --strict "
                  "--format"},
    CommonOptions{"sass",
                  "--config --run --rank --cubin --arch --seq --opcodes --kernel-dir --format"},
    CommonOptions{"sass diff", "--opcodes --listing --arch --seq --causal --kernel-dir --format"},
    CommonOptions{"sass cfg", "--config --run --rank --cubin --arch --seq --format"},
    CommonOptions{"sass clean", "--config --run --rank --cubin --arch --seq"},
    CommonOptions{"sass map",
                  "--config --run --rank --arch --source --ptx --sass --annotate --depth "
                  "--format"},
    CommonOptions{"sass why", "--run --space --family --arch --seq --top --format"},
    CommonOptions{"profile",
                  "--config --space --run --top --seq --metrics --backend --out --device "
                  "--format"},
    CommonOptions{"export", "--best --run --to --out --cover --family --format"},
    CommonOptions{"import", "--from --seq --dhead --dtype --arch --gpu --db --format"},
    CommonOptions{"evaluate",
                  "--family --kernel-dir --preset --seq --dhead --dtype --causal --device"},
    CommonOptions{"predict",
                  "--preset --seq --dhead --dtype --causal --batch --heads --gpu --arch --format"},
};

/// The options that the help of a command describes first, in that order. `command`: its words
/// behind the program's name, "sass map". Empty for a command with few options.
std::vector<std::string> common_option_names(const std::string& command) {
  const auto* const row = std::ranges::find(kCommonOptions, command, &CommonOptions::command);
  std::vector<std::string> names;
  std::string_view rest = row == kCommonOptions.end() ? "" : row->names;
  while (!rest.empty()) {
    names.emplace_back(take_until(rest, ' '));
  }
  return names;
}

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
