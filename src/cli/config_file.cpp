#include <fcntl.h>
#include <sys/stat.h>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "base/environment.hpp"
#include "base/ranges.hpp"
#include "base/visible_text.hpp"
#include "cli/option_groups.hpp"
#include "cli/typed_words.hpp"

namespace fatune {
namespace {

/// The commands and options that a command line selects, before it is parsed.
struct TypedWords {
  std::vector<const CLI::App*> commands;  ///< the program, its command, that command's own
  std::size_t behind_command = 0;         ///< the number of words up to the last command
  std::set<const CLI::Option*> options;   ///< the given options, of any of the commands
};

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

namespace fs = std::filesystem;

constexpr const char* kFileName = "fatune.toml";
constexpr std::string_view kNone = "none";
/// Options that a file cannot set: those that end the program at once, --config-file itself, and
/// --allow-option, because a project's file comes from whoever wrote its kernels.
constexpr std::array<std::string_view, 5> kTypedOnly{"help", "help-all", "version", "config-file",
                                                     "allow-option"};

/// A setting of the file that applies to the command: one of its options, and the value.
struct Setting {
  const CLI::Option* option;
  const toml::node* value;
};

std::string name_of(const CLI::Option& option) { return option.get_lnames().front(); }

std::vector<std::string> configurable_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional() && !option->get_lnames().empty() &&
        std::ranges::count(kTypedOnly, name_of(*option)) == 0) {
      names.push_back(name_of(*option));
    }
  }
  return names;
}

const CLI::Option* configurable_option(const CLI::App& app, const std::string& name) {
  return is_among(name, kTypedOnly) ? nullptr : app.get_option_no_throw("--" + name);
}

class FileReader {
 public:
  FileReader(const CLI::App& program, const fs::path& file, const TypedWords& typed)
      : program_(program), file_(file), typed_(typed) {}

  ConfiguredWords read(std::vector<std::string> words) {
    const toml::table table = parse();
    check_section(program_, table);
    collect(table);
    ConfiguredWords configured;
    std::vector<std::string> added;
    for (const Setting& setting : settings_) {
      if (!is_overruled(*setting.option)) {
        add(setting, added);
        configured.places["--" + name_of(*setting.option)] = place_of(*setting.value);
      }
    }
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(typed_.behind_command), added.begin(),
                 added.end());
    configured.words = std::move(words);
    configured.file = file_;
    return configured;
  }

 private:
  [[nodiscard]] toml::table parse() const {
    std::error_code ignored;
    if (fs::is_directory(file_, ignored)) {
      throw Error(ExitCode::bad_file, "is a folder", file_.string(),
                  fmt::format("name a file, e.g. {}/{}", file_.string(), kFileName));
    }
    if (constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 20;
        fs::is_regular_file(file_, ignored) && fs::file_size(file_, ignored) > kMostBytes) {
      throw Error(ExitCode::bad_file, fmt::format("is larger than {} bytes", kMostBytes),
                  file_.string(), "defaults are a few lines of TOML");
    }
    try {
      return toml::parse_file(file_.string());
    } catch (const toml::parse_error& error) {
      const auto line = error.source().begin.line;
      throw Error(ExitCode::bad_file, visible_text(error.description()),
                  line == 0 ? file_.string() : fmt::format("{}:{}", file_.string(), line),
                  "defaults are TOML, e.g. [sweep] and below it seq = [1024, 4096]");
    }
  }

  [[nodiscard]] std::string place_of(const toml::node& node) const {
    return fmt::format("{}:{}", file_.string(), node.source().begin.line);
  }

  [[noreturn]] void fail(const toml::node& node, const std::string& what,
                         const std::string& remedy) const {
    throw Error(ExitCode::bad_file, visible_text(what), place_of(node), remedy);
  }

  [[noreturn]] void fail_unknown(const toml::node& node, const std::string& what,
                                 const std::string& name,
                                 const std::vector<std::string>& known) const {
    const std::string guess = closest_word(name, known);
    fail(node, what,
         !guess.empty()  ? fmt::format("did you mean '{}'?", guess)
         : known.empty() ? std::string()
                         : fmt::format("known: {}", fmt::join(known, ", ")));
  }

  /// Throws Error(bad_file) for an unknown option or command in the section, or in a section within
  /// it. Sections of other commands are checked too.
  void check_section(const CLI::App& app, const toml::table& section) const {
    for (const auto& [key, value] : section) {
      const std::string name(key.str());
      if (const toml::table* inner = value.as_table()) {
        check_inner(app, name, *inner);
      } else if (!is_known(app, name)) {
        fail_unknown(value,
                     &app == &program_
                         ? fmt::format("no command has an option '{}'", name)
                         : fmt::format("'{}' has no option '{}'", app.get_name(), name),
                     name, &app == &program_ ? all_names() : configurable_names(app));
      }
    }
  }

  void check_inner(const CLI::App& app, const std::string& name, const toml::table& inner) const {
    const auto known = visible_commands(app);
    if (std::ranges::count(known, name) == 0) {
      fail_unknown(inner, fmt::format("there is no command '{}'", name), name, known);
    }
    check_section(*find_command(app, name), inner);
  }

  /// Above all sections, an option is known if any command has it.
  [[nodiscard]] bool is_known(const CLI::App& app, const std::string& name) const {
    return &app != &program_ ? configurable_option(app, name) != nullptr
                             : std::ranges::count(all_names(), name) != 0;
  }

  [[nodiscard]] std::vector<std::string> all_names() const {
    std::vector<std::string> all;
    append_names(program_, all);
    return all;
  }

  static void append_names(const CLI::App& app, std::vector<std::string>& all) {
    for (std::string& name : configurable_names(app)) {
      append_new(all, std::move(name));
    }
    for (const std::string& command : visible_commands(app)) {
      append_names(*find_command(app, command), all);
    }
  }

  /// Collects the command's settings: those above all sections, then those of its own section.
  void collect(const toml::table& top) {
    take(top);
    const toml::table* section = &top;
    for (std::size_t i = 1; section != nullptr && i < typed_.commands.size(); ++i) {
      const toml::node* inner = section->get(typed_.commands[i]->get_name());
      section = inner == nullptr ? nullptr : inner->as_table();
    }
    if (section != nullptr && section != &top) {
      take(*section);
    }
  }

  void take(const toml::table& section) {
    for (const auto& [key, value] : section) {
      const CLI::Option* option =
          configurable_option(*typed_.commands.back(), std::string(key.str()));
      if (!value.is_table() && option != nullptr) {
        std::erase_if(settings_, [&](const Setting& other) { return other.option == option; });
        settings_.push_back({option, &value});
      }
    }
  }

  /// Whether a typed option is this one, or one that it excludes.
  [[nodiscard]] bool is_overruled(const CLI::Option& option) const {
    const auto excluded = option.get_excludes();
    return std::ranges::any_of(typed_.options, [&](const CLI::Option* typed) {
      return std::ranges::count(typed->get_lnames(), name_of(option)) != 0 ||
             std::ranges::count(excluded, typed) != 0;
    });
  }

  void add(const Setting& setting, std::vector<std::string>& words) const {
    const std::string word = "--" + name_of(*setting.option);
    const bool takes_flag = setting.option->get_items_expected_min() == 0;
    if (const auto flag = setting.value->value_exact<bool>(); flag && takes_flag) {
      if (*flag) {
        words.push_back(word);
      }
      return;
    }
    if (setting.option->get_items_expected_max() == 0) {
      fail(*setting.value, fmt::format("'{}' must be true or false", name_of(*setting.option)),
           fmt::format("write {} = true", name_of(*setting.option)));
    }
    const std::vector<std::string> values = texts_of(setting);
    if (setting.option->get_items_expected_max() > 1) {
      for (const std::string& value : values) {
        words.push_back(fmt::format("{}={}", word, value));
      }
    } else {
      words.push_back(fmt::format("{}={}", word, fmt::join(values, ",")));
    }
  }

  [[nodiscard]] std::vector<std::string> texts_of(const Setting& setting) const {
    std::vector<std::string> texts;
    if (const toml::array* list = setting.value->as_array()) {
      for (const toml::node& value : *list) {
        texts.push_back(text_of(*setting.option, value));
      }
    } else {
      texts.push_back(text_of(*setting.option, *setting.value));
    }
    return texts;
  }

  [[nodiscard]] std::string text_of(const CLI::Option& option, const toml::node& value) const {
    if (const auto* text = value.as_string()) {
      return located(option, text->get());
    }
    if (const auto* integer = value.as_integer()) {
      return fmt::format("{}", integer->get());
    }
    if (const auto* number = value.as_floating_point()) {
      return fmt::format("{}", number->get());
    }
    fail(value, fmt::format("'{}' cannot have this value", name_of(option)),
         "give a string, a number, or a list of them");
  }

  /// Resolves a relative path against the file's folder. If the option also takes words, the text
  /// is a path only if something of that name exists.
  [[nodiscard]] std::string located(const CLI::Option& option, const std::string& text) const {
    const ValueWords value = value_words(option.get_type_name());
    const fs::path path = file_.parent_path() / text;
    const bool is_path = (value.files || value.folders) && !text.empty() &&
                         (value.words.empty() || fs::exists(path));
    return is_path ? path.string() : text;
  }

  const CLI::App& program_;
  const fs::path& file_;
  const TypedWords& typed_;
  std::vector<Setting> settings_;
};

/// Throws Error(bad_file) if the file, or a link that leads to it, is somebody else's: options name
/// files that are written and kernels that are run.
void check_owner(const fs::path& file) {
  for (const int follow : {AT_SYMLINK_NOFOLLOW, 0}) {
    struct stat status {};
    const std::string why = ::fstatat(AT_FDCWD, file.c_str(), &status, follow) == 0
                                ? why_foreign(status)
                                : std::string("cannot be looked at");
    if (!why.empty()) {
      throw Error(ExitCode::bad_file, fmt::format("{} and would set options", why), file.string(),
                  fmt::format("if you trust it, --config-file {} or the variable "
                              "FATUNE_CONFIG_FILE; --config-file none does without it",
                              shell_word(file.string())));
    }
  }
}

/// Returns fatune.toml in `folder`, or in the nearest folder above it, up to `home` or the root.
/// Nothing: there is none.
std::optional<fs::path> find_config_file(const fs::path& folder, const fs::path& home) {
  for (fs::path at = folder;; at = at.parent_path()) {
    std::error_code ignored;
    if (fs::is_regular_file(at / kFileName, ignored)) {
      return at / kFileName;
    }
    if (at == home || at == at.parent_path()) {
      return std::nullopt;
    }
  }
}

std::optional<fs::path> nearest_file() {
  std::error_code no_folder;
  const fs::path here = fs::current_path(no_folder);
  auto found =
      no_folder ? std::nullopt : find_config_file(here, environment_variable("HOME").value_or(""));
  if (found) {
    check_owner(*found);
  }
  if (found && found->parent_path() == here) {
    found = kFileName;  // relative to the current folder
  }
  return found;
}

/// Returns the file to read. Nothing: there is none.
std::optional<fs::path> chosen_file(const std::vector<std::string>& words) {
  auto named = typed_value(words, kConfigFileOption);
  if (!named) {
    named = environment_variable("FATUNE_CONFIG_FILE");
  }
  if (!named) {
    return nearest_file();
  }
  return *named == kNone ? std::nullopt : std::optional(read_path(*named, kConfigFileOption));
}

/// Whether the message is about the option: "--seq: ..." or "--seq excludes ...".
bool begins_with_option(std::string_view message, std::string_view option) {
  return message.starts_with(option) && message.size() > option.size() &&
         std::string_view(": ").find(message[option.size()]) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> visible_commands(const CLI::App& app) {
  const auto visible =
      app.get_subcommands([](const auto* sub) { return !sub->get_group().empty(); });
  return mapped(visible, [](const CLI::App* command) { return command->get_name(); });
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
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

ConfiguredWords add_config_file(const CLI::App& program, std::vector<std::string> words) {
  const TypedWords typed = read_typed_words(program, words);
  const bool reads = typed.commands.size() > 1 && !typed.commands[1]->get_group().empty() &&
                     std::ranges::none_of(typed.options, [](const CLI::Option* option) {
                       return option->check_lname("help") || option->check_lname("help-all");
                     });
  const auto file = reads ? chosen_file(words) : std::nullopt;
  if (!file) {
    return {std::move(words), {}, {}};
  }
  return FileReader(program, *file, typed).read(std::move(words));
}

Error at_its_place(const Error& error, const ConfiguredWords& configured) {
  for (const auto& [option, place] : configured.places) {
    if (begins_with_option(error.what(), option)) {
      const std::string where =
          error.where().empty() ? place : fmt::format("{}: {}", place, error.where());
      return {error.code(), error.what_was_wrong(), where, error.remedy()};
    }
  }
  return error;
}

}  // namespace fatune
