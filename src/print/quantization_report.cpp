#include "print/quantization_report.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

bool tells(const ErrorStats& stats) { return stats.quantization_rms_percent.has_value(); }

/// "3.1", or "3.1 to 3.3" if the outputs' errors differ.
std::string range_text(const std::vector<const ErrorStats*>& all) {
  const auto [least, greatest] = std::ranges::minmax(
      mapped(all, [](const ErrorStats* stats) { return *stats->quantization_rms_percent; }));
  const std::string from = fmt::format("{:.1f}", least);
  const std::string to = fmt::format("{:.1f}", greatest);
  return from == to ? from : from + " to " + to;
}

std::string line_of(const std::vector<const ErrorStats*>& all) {
  return fmt::format(
      "stored in 8 bits: O differs by {} % (rms) from attention of the unrounded values (input "
      "{})\n",
      range_text(all), all.front()->input);
}

}  // namespace

const ErrorStats* find_quantization(const std::vector<ErrorStats>& inputs) {
  const auto found = std::ranges::find_if(inputs, tells);
  return found == inputs.end() ? nullptr : &*found;
}

std::string quantization_text(const std::vector<QuantizedOutput>& outputs) {
  std::vector<Problem> problems;  // in the order of the outputs
  std::map<Problem, std::vector<const ErrorStats*>> errors;
  for (const QuantizedOutput& output : outputs) {
    if (output.stats != nullptr && tells(*output.stats)) {
      std::vector<const ErrorStats*>& of_problem = errors[*output.problem];
      if (of_problem.empty()) {
        problems.push_back(*output.problem);
      }
      of_problem.push_back(output.stats);
    }
  }
  return joined(problems, "", [&](const Problem& problem) {
    const std::string name = problems.size() > 1 ? describe(problem) + ": " : "";
    return name + line_of(errors.at(problem));
  });
}

}  // namespace fatune
