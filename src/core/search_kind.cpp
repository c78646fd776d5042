#include "core/search_kind.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/error.hpp"

namespace fatune {
namespace {

constexpr std::array<std::string_view, 5> kSearchNames{"auto", "exhaustive", "random", "local",
                                                       "model"};

}  // namespace

std::string_view search_name(SearchKind kind) {
  return kSearchNames.at(static_cast<std::size_t>(kind));
}

SearchKind parse_search(std::string_view text) {
  const auto found = std::ranges::find(kSearchNames, text);
  if (found == kSearchNames.end()) {
    throw Error(ExitCode::usage, "there is no search '" + std::string(text) + "'", "--search",
                "searches are auto, exhaustive, random, local and model");
  }
  return static_cast<SearchKind>(found - kSearchNames.begin());
}

}  // namespace fatune
