#pragma once

#include "core/enum_names.hpp"

namespace fatune {

/// Selects the configurations of a problem that are tried (docs/search.md).
enum class SearchKind {
  automatic,   ///< all of a small space; else as model, until more is unlikely to help
  exhaustive,  ///< all
  random,
  local,  ///< the neighbours of the fastest one, repeatedly
  model,  ///< configurations that a model, which learns from the measurements, predicts to be fast
};

template <>
inline constexpr EnumNames<5> kEnumNames<SearchKind>{
    "search", {"auto", "exhaustive", "random", "local", "model"}};

}  // namespace fatune
