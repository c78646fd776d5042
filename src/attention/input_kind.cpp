#include "attention/input_kind.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {
namespace {

std::string known_kinds() {
  std::string names;
  for (const InputKindText& text : kInputKindTexts) {
    names += (names.empty() ? "" : ", ") + std::string(text.name);
  }
  return names;
}

}  // namespace

InputKind parse_input_kind(std::string_view text) {
  if (text == "random") {
    return InputKind::normal;
  }
  const auto* const found = std::ranges::find(kInputKindTexts, text, &InputKindText::name);
  if (found == kInputKindTexts.end()) {
    throw Error(ExitCode::usage, fmt::format("'{}' is no kind of input", text), "--init",
                "choose one of " + known_kinds());
  }
  return found->kind;
}

}  // namespace fatune
