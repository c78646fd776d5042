#include "data/kernel_time_node.hpp"

#include "core/kernel_time.hpp"

namespace fatune {

double read_kernel_time(const JsonNode& node, double us_per_unit) {
  const double us = node.number() * us_per_unit;
  if (!is_kernel_time(us)) {
    node.fail(not_a_kernel_time(us), kernel_times());
  }
  return node.number();
}

}  // namespace fatune
