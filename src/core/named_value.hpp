#pragma once

#include <string>

namespace fatune {

/// A parameter as outputs show it: value as text ("FP16", "128", "true").
struct NamedValue {
  std::string name;
  std::string text;
};

}  // namespace fatune
