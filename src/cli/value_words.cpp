#include "cli/value_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "attention/input_kind.hpp"
#include "cli/known_names.hpp"
#include "core/mapped.hpp"
#include "core/sanitizer.hpp"
#include "core/text_parts.hpp"
#include "report/emulation.hpp"

namespace fatune {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kAll = "all";

Words emulation_checks() {
  Words words = all_emulation_checks();
  words.emplace_back(kAll);
  return words;
}

Words sanitizer_tools() {
  Words words = mapped(parse_sanitizer_tools(kAll),
                       [](SanitizerTool tool) { return std::string(sanitizer_tool_name(tool)); });
  words.emplace_back(kAll);
  return words;
}

Words input_kinds() {
  return mapped(kInputKindTexts, [](const InputKindText& kind) { return std::string(kind.name); });
}

Words no_words() { return {}; }

/// A kind of value, by its name in the help.
struct ValueKind {
  std::string_view name;
  Words (*words)() = no_words;
  bool files = false;
  bool folders = false;
};

/// The only list of the kinds.
constexpr std::array kValueKinds{
    ValueKind{.name = "FILE", .files = true},
    ValueKind{.name = "DIR", .folders = true},
    ValueKind{.name = "ARCH", .words = known_archs},
    ValueKind{.name = "CASES", .words = known_case_sets},
    ValueKind{.name = "CHECK", .words = emulation_checks},
    ValueKind{.name = "FAMILY", .words = known_families},
    ValueKind{.name = "GPU", .words = known_tuned_gpus},
    ValueKind{.name = "KIND", .words = input_kinds},
    ValueKind{.name = "PRESET", .words = known_presets},
    ValueKind{.name = "SPACE", .words = known_spaces},
    ValueKind{.name = "TOOL", .words = sanitizer_tools},
    ValueKind{.name = "ADDRESS"},
    ValueKind{.name = "CONFIG"},
    ValueKind{.name = "EXPRESSION"},
    ValueKind{.name = "FILE:LINE"},
    ValueKind{.name = "I/N"},
    ValueKind{.name = "ID"},
    ValueKind{.name = "KEY"},
    ValueKind{.name = "LINE"},
    ValueKind{.name = "LIST"},
    ValueKind{.name = "REV"},
    ValueKind{.name = "METRIC"},
    ValueKind{.name = "N"},
    ValueKind{.name = "NAME"},
    ValueKind{.name = "NAME[:desc]"},
    ValueKind{.name = "PERCENT"},
    ValueKind{.name = "SECONDS"},
    ValueKind{.name = "TEXT"},
};

void add_kind(std::string_view name, ValueWords& value) {
  const auto kind = std::ranges::find(kValueKinds, name, &ValueKind::name);
  if (kind == kValueKinds.end()) {
    throw std::logic_error("the help mentions a '" + std::string(name) +
                           "', which cli/value_words.cpp does not know");
  }
  const Words words = kind->words();
  value.words.insert(value.words.end(), words.begin(), words.end());
  value.files = value.files || kind->files;
  value.folders = value.folders || kind->folders;
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

}  // namespace fatune
