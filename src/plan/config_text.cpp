#include "plan/config_text.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "plan/planner.hpp"
#include "plan/text_cursor.hpp"

namespace fatune {
namespace {

std::string name_usage(const Family& family) {
  const KernelNameForm& form = *family.kernel_name;
  return fmt::format("\"{}<{}{{{}}}>\", or the part from {} on", form.function, form.config,
                     parameter_names(family), form.config);
}

/// Reads a name with its namespaces ("ns::f", but not "(anonymous namespace)::f") and returns its
/// last part.
std::string_view qualified_name(TextCursor& cursor, std::string_view what) {
  std::string_view last = cursor.word(what);
  while (cursor.accept(':')) {
    cursor.expect(':');
    last = cursor.word(what);
  }
  return last;
}

/// Skips the type that a profiler may write before a value: "(c10::ScalarType)", "(int)", "(bool)".
void skip_cast(TextCursor& cursor) {
  if (cursor.accept('(')) {
    (void)qualified_name(cursor, "a type");
    cursor.expect(')');
  }
}

/// The value that `text` is, which begins at `position`.
ParamValue value_at(TextCursor& cursor, std::size_t position, const Parameter& parameter,
                    std::string_view text) {
  try {
    return parse_value(parameter, text);
  } catch (const Error& error) {
    cursor.skip_to(position);
    cursor.fail(fmt::format("{} ({})", error.what_was_wrong(), error.remedy()));
  }
}

class NameReader {
 public:
  NameReader(const Family& family, std::string_view text)
      : family_(family), form_(*family.kernel_name), cursor_(text, name_usage(family)) {}

  Config read() {
    const bool in_function = read_head();
    Config config{family_.name, read_values()};
    if (in_function) {
      cursor_.expect('>');
      read_arguments();
    }
    if (!cursor_.at_end()) {
      cursor_.fail("expected the end");
    }
    return config;
  }

 private:
  /// Reads up to the configuration's '{'. Returns true if it is within function<...>.
  bool read_head() {
    std::string_view name = qualified_name(cursor_, "a kernel name");
    if (name == "void") {
      name = qualified_name(cursor_, "a kernel name");
    }
    const bool in_function = name == form_.function;
    if (in_function) {
      cursor_.expect('<');
      name = qualified_name(cursor_, form_.config);
    }
    if (name != form_.config) {
      cursor_.skip_to(cursor_.position() - name.size());
      cursor_.fail(fmt::format("expected '{}'", in_function ? form_.config : form_.function));
    }
    cursor_.expect('{');
    return in_function;
  }

  std::vector<ParamValue> read_values() {
    std::vector<ParamValue> values;
    for (const Parameter& parameter : family_.parameters) {
      if (!values.empty()) {
        cursor_.expect(',');
      }
      skip_cast(cursor_);
      const std::string_view text = cursor_.word("a value of " + parameter.name);
      values.push_back(value_at(cursor_, cursor_.position() - text.size(), parameter, text));
    }
    cursor_.expect('}');
    return values;
  }

  /// Reads the arguments that a profiler prints after the name; only the parentheses are checked.
  void read_arguments() {
    if (cursor_.accept('(')) {
      const std::size_t close = cursor_.rest().rfind(')');
      if (close == std::string_view::npos) {
        cursor_.fail("the argument list has no ')'");
      }
      cursor_.skip_to(cursor_.position() + close + 1);
    }
  }

  const Family& family_;
  const KernelNameForm& form_;
  TextCursor cursor_;
};

std::string item_text(const Family& family, const ShortFormItem& item, const Config& config) {
  std::string text = item.texts.front();
  for (std::size_t i = 0; i < item.values.size(); ++i) {
    text += value_text(family.parameters[item.values[i]], config.values[item.values[i]]);
    text += item.texts[i + 1];
  }
  return text;
}

/// An item as messages show it: "async", "load_{Q}_{K}_tiles".
std::string item_usage(const Family& family, const ShortFormItem& item) {
  std::string text = item.texts.front();
  for (std::size_t i = 0; i < item.values.size(); ++i) {
    text += "{" + family.parameters[item.values[i]].name + "}" + item.texts[i + 1];
  }
  return text;
}

std::string item_usages(const Family& family, std::string_view separator) {
  return joined(family.short_form.items, separator,
                [&](const ShortFormItem& item) { return item_usage(family, item); });
}

/// Takes leading digits off `text` and returns them; empty if there are none.
std::string_view take_digits(std::string_view& text) {
  const auto end =
      std::ranges::find_if_not(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

/// The values in `word` if it follows the item's pattern ("load_0_2_2_tiles"), else nothing.
std::optional<std::vector<std::string_view>> match(const ShortFormItem& item,
                                                   std::string_view word) {
  std::vector<std::string_view> values;
  for (std::size_t i = 0; i < item.texts.size(); ++i) {
    if (!word.starts_with(item.texts[i])) {
      return std::nullopt;
    }
    word.remove_prefix(item.texts[i].size());
    if (i < item.values.size()) {
      values.push_back(take_digits(word));
      if (values.back().empty()) {
        return std::nullopt;
      }
    }
  }
  return word.empty() ? std::optional(values) : std::nullopt;
}

class ShortFormReader {
 public:
  ShortFormReader(const Family& family, std::string_view text)
      : family_(family),
        cursor_(text, short_form_usage(family)),
        config_{family.name, std::vector<ParamValue>(family.parameters.size(), 0)} {}

  Config read() {
    const bool framed = cursor_.accept('|');
    read_tuple();
    if (!family_.short_form.items.empty()) {
      cursor_.expect(':');
      read_flags(framed);
    } else {
      static_cast<void>(cursor_.accept(':'));
    }
    if (framed) {
      cursor_.expect('|');
    }
    if (!cursor_.at_end()) {
      cursor_.fail("expected the end");
    }
    return config_;
  }

 private:
  void set(std::size_t parameter, std::string_view text, std::size_t position) {
    config_.values[parameter] = value_at(cursor_, position, family_.parameters[parameter], text);
  }

  void read_tuple() {
    cursor_.expect('(');
    for (std::size_t i = 0; i < family_.short_form.tuple.size(); ++i) {
      if (i > 0) {
        cursor_.expect(',');
      }
      const std::size_t parameter = family_.short_form.tuple[i];
      const std::string_view text =
          cursor_.word("a value of " + family_.parameters[parameter].name);
      set(parameter, text, cursor_.position() - text.size());
    }
    cursor_.expect(')');
  }

  void read_flags(bool framed) {
    const bool none = cursor_.at_end() || (framed && cursor_.rest().front() == '|');
    if (!none) {
      do {
        read_flag();
      } while (cursor_.accept('+'));
    }
    for (std::size_t i = 0; i < family_.short_form.items.size(); ++i) {
      const ShortFormItem& item = family_.short_form.items[i];
      if (!item.flag && !seen_.contains(i)) {
        cursor_.fail(fmt::format("'{}' is missing", item_usage(family_, item)));
      }
    }
  }

  void read_flag() {
    const std::string_view word = cursor_.word("a flag");
    const std::size_t position = cursor_.position() - word.size();
    for (std::size_t i = 0; i < family_.short_form.items.size(); ++i) {
      if (const auto values = match(family_.short_form.items[i], word)) {
        apply(i, *values, position);
        return;
      }
    }
    cursor_.skip_to(position);
    cursor_.fail(
        fmt::format("unknown flag '{}' (flags: {})", printable(word), item_usages(family_, ", ")));
  }

  void apply(std::size_t index, const std::vector<std::string_view>& values, std::size_t position) {
    const ShortFormItem& item = family_.short_form.items[index];
    if (!seen_.insert(index).second) {
      cursor_.skip_to(position);
      cursor_.fail(fmt::format("the flag '{}' appears twice", item_usage(family_, item)));
    }
    if (item.flag) {
      config_.values[*item.flag] = 1;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      set(item.values[i], values[i], position);
    }
  }

  const Family& family_;
  TextCursor cursor_;
  Config config_;
  std::set<std::size_t> seen_;
};

/// A configuration that the family can build; nothing if the first kMostTried are all invalid or if
/// an expression fails. Such an expression is reported when a configuration is requested.
std::optional<Config> example_config(const Family& family) {
  constexpr int kMostTried = 5000;
  ConfigSet all;
  all.add(ConfigProduct{family.name, mapped(family.parameters, &Parameter::values)});
  int tried = 0;
  try {
    for (const Config& config : all) {
      if (!check_valid(family, config)) {
        return config;
      }
      if (++tried == kMostTried) {
        break;
      }
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string kernel_name(const Family& family, const Config& config) {
  if (!family.kernel_name) {
    return {};
  }
  return fmt::format("{}<{}{{{}}}>", family.kernel_name->function, family.kernel_name->config,
                     fmt::join(config.values, ", "));
}

Config parse_kernel_name(const Family& family, std::string_view text) {
  if (!family.kernel_name) {
    throw Error(ExitCode::usage,
                fmt::format("the kernel names of {} do not carry a configuration", family.name), {},
                "give the configuration in its short form");
  }
  return NameReader(family, text).read();
}

std::string short_form(const Family& family, const Config& config) {
  const std::string tuple = joined(family.short_form.tuple, ", ", [&](std::size_t parameter) {
    return value_text(family.parameters[parameter], config.values.at(parameter));
  });
  std::vector<std::string> flags;
  for (const ShortFormItem& item : family.short_form.items) {
    if (!item.flag || config.values.at(*item.flag) != 0) {
      flags.push_back(item_text(family, item, config));
    }
  }
  const char* const colon = family.short_form.items.empty() ? "" : ":";
  const std::string text = fmt::format("({}){}", tuple, colon);
  return flags.empty() ? text : fmt::format("{} {}", text, fmt::join(flags, "+"));
}

Config parse_short_form(const Family& family, std::string_view text) {
  return ShortFormReader(family, text).read();
}

std::string short_form_usage(const Family& family) {
  const std::string tuple = joined(family.short_form.tuple, ", ", [&](std::size_t parameter) {
    return family.parameters[parameter].name;
  });
  const std::string flags = family.short_form.items.empty() ? "" : ": " + item_usages(family, "+");
  const std::string form = fmt::format("\"({}){}\"", tuple, flags);
  const std::optional<Config> example = example_config(family);
  return example ? fmt::format("{}, for example \"{}\"", form, short_form(family, *example)) : form;
}

std::vector<NamedValue> named_values(const Family& family, const Config& config) {
  std::vector<NamedValue> values;
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    values.push_back(
        {family.parameters[i].name, value_text(family.parameters[i], config.values.at(i))});
  }
  return values;
}

Result make_result(const Family& family, const Config& config) {
  Result result;
  result.config = config;
  result.short_form = short_form(family, config);
  if (!family.version.empty()) {
    result.short_form += " @ " + family.version;
  }
  result.kernel_name = kernel_name(family, config);
  result.parameters = named_values(family, config);
  return result;
}

}  // namespace fatune
