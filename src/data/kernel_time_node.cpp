#include "data/kernel_time_node.hpp"

#include <fmt/format.h>

#include "core/kernel_time.hpp"

namespace fatune {

double read_kernel_time(const JsonNode& node, double us_per_unit) {
  const double us = node.number() * us_per_unit;
  if (!is_kernel_time(us)) {
    node.fail(not_a_kernel_time(us), kernel_times());
  }
  return node.number();
}

double read_duration(const JsonNode& node, double us_per_unit) {
  const double us = node.number() * us_per_unit;
  if (!(us >= 0.0 && us <= kMostKernelUs)) {
    node.fail(fmt::format("{} us is not a duration", us),
              fmt::format("durations are from 0 to {} us", kMostKernelUs));
  }
  return node.number();
}

}  // namespace fatune
