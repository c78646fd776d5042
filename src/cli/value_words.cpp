#include "cli/value_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "app/choice/presets.hpp"
#include "attention/input_kind.hpp"
#include "core/ranges.hpp"
#include "core/sanitizer.hpp"
#include "core/text_parts.hpp"
#include "data/file_tree.hpp"
#include "report/emulation.hpp"
#include "tuned/tuned_file.hpp"

namespace fatune {
namespace {

std::vector<std::string> stems(const std::string& prefix) {
  return mapped(FileTree().list(prefix), [](const std::string& path) {
    return std::filesystem::path(path).stem().string();
  });
}

/// The keys of spaces, sorted.
std::vector<std::string> known_spaces() { return stems("configs/spaces/"); }

/// Kernel families, sorted.
std::vector<std::string> known_families() {
  std::vector<std::string> names;
  for (const std::string& path : FileTree().list("kernels/")) {
    if (const std::filesystem::path file(path); file.filename() == "family.json") {
      names.push_back(file.parent_path().filename().string());
    }
  }
  return names;
}

/// Keys of configs/cases, sorted.
std::vector<std::string> known_case_sets() { return stems("configs/cases/"); }

/// Architectures that have a file in configs/devices, sorted.
std::vector<std::string> known_archs() { return stems("configs/devices/"); }

/// GPUs that fatune ships winners of, as file_name_part() writes them, sorted.
std::vector<std::string> known_tuned_gpus() { return stems(kShippedWinners); }

/// Published models, in the order of their file.
std::vector<std::string> known_presets() { return mapped(load_presets(), &ProblemPreset::name); }

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
