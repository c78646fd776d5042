#pragma once

#include <string>
#include <utility>

#include "core/text_parts.hpp"

namespace fatune {

/// Orders texts as people do: numbers by size, then other texts by their bytes.
struct NaturalOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    const auto number_a = whole_number<double>(a);
    const auto number_b = whole_number<double>(b);
    return number_a && number_b   ? *number_a < *number_b
           : number_a || number_b ? number_a.has_value()
                                  : a < b;
  }
  template <typename Other>
  bool operator()(const std::pair<std::string, Other>& a,
                  const std::pair<std::string, Other>& b) const {
    return (*this)(a.first, b.first) || (!(*this)(b.first, a.first) && (*this)(a.second, b.second));
  }
};

}  // namespace fatune
