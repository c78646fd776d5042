#include "plan/kernel_name.hpp"

#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
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
      values.push_back(read_value(parameter));
    }
    cursor_.expect('}');
    return values;
  }

  ParamValue read_value(const Parameter& parameter) {
    const std::string_view text = cursor_.word("a value of " + parameter.name);
    try {
      return parse_value(parameter, text);
    } catch (const Error& error) {
      cursor_.skip_to(cursor_.position() - text.size());
      cursor_.fail(fmt::format("{} ({})", error.what_was_wrong(), error.remedy()));
    }
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

}  // namespace

std::string kernel_name(const Family& family, const Config& config) {
  if (!family.kernel_name) {
    return {};
  }
  return fmt::format("{}<{}{{{}}}>", family.kernel_name->function, family.kernel_name->config,
                     fmt::join(config.values, ", "));
}

bool looks_like_kernel_name(const Family& family, std::string_view text) {
  return family.kernel_name && (text.find(family.kernel_name->config) != std::string_view::npos ||
                                text.find(family.kernel_name->function) != std::string_view::npos);
}

Config parse_kernel_name(const Family& family, std::string_view text) {
  if (!family.kernel_name) {
    throw Error(ExitCode::usage,
                fmt::format("the kernel names of {} do not carry a configuration", family.name), {},
                "give the configuration in its short form");
  }
  return NameReader(family, text).read();
}

}  // namespace fatune
