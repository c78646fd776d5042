#include "core/kernel_code.hpp"

namespace fatune {

bool same_launch(const LaunchGeometry& a, const LaunchGeometry& b) {
  LaunchGeometry as_b = a;
  if (a.arguments.standard && b.arguments.standard) {
    as_b.arguments = b.arguments;
  }
  return as_b == b;
}

}  // namespace fatune
