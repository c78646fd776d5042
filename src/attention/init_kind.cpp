#include "attention/init_kind.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {
namespace {

std::string known_names() {
  std::string names;
  for (const InitKindText& text : kInitKinds) {
    names += (names.empty() ? "" : ", ") + std::string(text.name);
  }
  return names;
}

}  // namespace

std::string_view init_kind_name(InitKind kind) {
  return kInitKinds.at(static_cast<std::size_t>(kind)).name;
}

InitKind parse_init_kind(std::string_view text) {
  const auto* const found =
      std::find_if(kInitKinds.begin(), kInitKinds.end(),
                   [text](const InitKindText& known) { return known.name == text; });
  if (found == kInitKinds.end()) {
    throw Error(ExitCode::usage, fmt::format("'{}' is no kind of input", text), "--init",
                "choose one of " + known_names());
  }
  return found->kind;
}

}  // namespace fatune
