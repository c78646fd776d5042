#include "attention/input_kind.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/text_parts.hpp"

namespace fatune {

InputKind parse_input_kind(std::string_view text) {
  if (text == "random") {
    return InputKind::normal;
  }
  const auto* const found = std::ranges::find(kInputKindTexts, text, &InputKindText::name);
  if (found == kInputKindTexts.end()) {
    throw Error(ExitCode::usage, fmt::format("'{}' is not a kind of input", text), "--init",
                "choose one of " + joined(kInputKindTexts, ", ", &InputKindText::name));
  }
  return found->kind;
}

}  // namespace fatune
