#include "cli/typed_words.hpp"

#include <cctype>

#include "base/file_tree.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "choose/tuned_file.hpp"
#include "engine/choice/problems.hpp"
#include "model/emulation.hpp"
#include "model/input_kind.hpp"
#include "model/sanitizer.hpp"

namespace fatune {
namespace {

std::vector<std::string> stems(const std::string& prefix) {
  return mapped(FileTree().list(prefix), [](const std::string& path) {
    return std::filesystem::path(path).stem().string();
  });
}

using Words = std::vector<std::string>;

constexpr const char* kAll = "all";

Words emulation_checks() {
  Words words = all_emulation_checks();
  words.emplace_back(kAll);
  return words;
}

Words sanitizer_tools() {
  Words words = mapped(parse_sanitizer_tools(kAll),
                       [](SanitizerTool tool) { return std::string(enum_name(tool)); });
  words.emplace_back(kAll);
  return words;
}

Words input_kinds() {
  return mapped(kInputKindTexts, [](const InputKindText& kind) { return std::string(kind.name); });
}

/// A kind of value, by its name in the help. Lists of files are sorted.
struct ValueKind {
  std::string_view name;
  Words (*words)() = [] { return Words(); };
  bool files = false;
  bool folders = false;
};

/// The only list of the kinds, with that of those of which no word is known.
constexpr std::array kValueKinds{
    ValueKind{.name = "FILE", .files = true},
    ValueKind{.name = "DIR", .folders = true},
    ValueKind{"ARCH", [] { return stems("configs/devices/"); }},
    ValueKind{"CASES", [] { return stems("configs/cases/"); }},
    ValueKind{"CHECK", emulation_checks},
    ValueKind{"FAMILY", [] { return family_names(FileTree()); }},
    ValueKind{"GPU", [] { return stems(kShippedWinners); }},
    ValueKind{"KIND", input_kinds},
    ValueKind{"PRESET", [] { return mapped(load_presets(), &ProblemPreset::name); }},
    ValueKind{"SPACE", [] { return stems("configs/spaces/"); }},
    ValueKind{"TOOL", sanitizer_tools}};
constexpr std::string_view kKindsWithoutWords[]{
    "ADDRESS", "CONFIG",      "EXPRESSION", "FILE:LINE", "I/N",    "ID",
    "KEY",     "LINE",        "LIST",       "REV",       "METRIC", "N",
    "NAME",    "NAME[:desc]", "PERCENT",    "SECONDS",   "SPEC",   "TEXT"};

void add_kind(std::string_view name, ValueWords& value) {
  const auto kind = std::ranges::find(kValueKinds, name, &ValueKind::name);
  if (kind == kValueKinds.end()) {
    if (is_among(name, kKindsWithoutWords)) {
      return;
    }
    throw std::logic_error("the help mentions a '" + std::string(name) +
                           "', which cli/read_pages.cpp does not know");
  }
  append(value.words, kind->words());
  value.files = value.files || kind->files;
  value.folders = value.folders || kind->folders;
}

/// A command with many options has at most ten of these.
constexpr std::string_view kCommonOptions = R"(
sweep: --preset --seq --dhead --dtype --causal --space --device --search --out --format
run: --config --preset --seq --causal --batch --heads --runs --device --out --format
verify-winner: --tolerance --budget --family --device --best --db --format
cases: --preset --seq --dhead --dtype --causal --heads --device --budget --format
check: --config --space --small --seq --causal --seeds --diff --sanitizer --device --format
debug: --config --init --seq --seq-blocks --causal --out --kernel-dir --device --format
emulate: --config --space --seq --causal --schedules --check --profile --strict --arch --format
list: --space --family --kernel-dir --seq --dhead --arch --pruned --presets --filter --format
compile: --config --space --family --kernel-dir --seq --arch --out --ptx --strict --format
sass: --config --run --rank --cubin --arch --seq --opcodes --kernel-dir --format
sass diff: --opcodes --listing --arch --seq --causal --kernel-dir --format
sass cfg: --config --run --rank --cubin --arch --seq --format
sass clean: --config --run --rank --cubin --arch --seq
sass map: --config --run --rank --arch --source --ptx --sass --annotate --depth --format
sass why: --run --space --family --arch --seq --top --format
profile: --config --space --run --top --seq --metrics --backend --out --device --format
export: --best --run --to --out --cover --family --format
import: --from --seq --dhead --dtype --arch --gpu --db --format
evaluate: --family --kernel-dir --preset --seq --dhead --dtype --causal --device
predict: --preset --seq --dhead --dtype --causal --batch --heads --gpu --arch --format
workload from-preset: --preset --seq --batches --steps --dtype --heads --page-size --format
)";

/// The options that the help of a command describes first, in that order. `command`: its words
/// behind the program's name, "sass map". Empty for a command with few options.
std::vector<std::string> common_option_names(const std::string& command) {
  std::string_view rest = between(kCommonOptions, "\n" + command + ": ", "\n");
  std::vector<std::string> names;
  while (!rest.empty()) {
    names.emplace_back(take_until(rest, ' '));
  }
  return names;
}

bool is_repeatable(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::vector<std::string> typed_names(const CLI::Option& option) {
  std::vector<std::string> names =
      mapped(option.get_snames(), [&](const std::string& name) { return "-" + name; });
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> all;
  for (const CLI::Option* option : options) {
    append(all, typed_names(*option));
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

ValueWords value_words(std::string type) {
  constexpr std::string_view kSeveral = ",...";
  ValueWords value;
  if (value.several = type.ends_with(kSeveral); value.several) {
    type.resize(type.size() - kSeveral.size());
  }
  std::string_view rest = type;
  while (!rest.empty()) {
    const std::string_view part = take_until(rest, '|');
    if (std::isupper(static_cast<unsigned char>(part.front())) != 0) {
      add_kind(part, value);
    } else {
      value.words.emplace_back(part);
    }
  }
  return value;
}

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
