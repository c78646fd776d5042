#include "attention/problem_details.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {
namespace {

using Kind = ProblemDetail::Kind;

std::string range_text(const ProblemDetail& detail) {
  if (detail.kind == Kind::flag) {
    return "true or false";
  }
  return fmt::format("{} from {} to {}", detail.kind == Kind::integer ? "an integer" : "a number",
                     detail.least, detail.greatest);
}

bool is_in_range(const ProblemDetail& detail, double value) {
  return value >= detail.least && value <= detail.greatest &&
         (detail.kind != Kind::integer || value == std::floor(value));
}

/// The value as the table holds it; nothing if it is of another kind.
std::optional<double> number_of(Kind kind, const DetailValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return kind == Kind::layout ? std::optional(static_cast<double>(parse_layout(*text)))
                                : std::nullopt;
  }
  if (const auto* flag = std::get_if<bool>(&value)) {
    return kind == Kind::flag ? std::optional(*flag ? 1.0 : 0.0) : std::nullopt;
  }
  if (kind == Kind::flag || kind == Kind::layout) {
    return std::nullopt;
  }
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

}  // namespace

const ProblemDetail& find_detail(std::string_view name) {
  return *std::ranges::find(kProblemDetails, name, &ProblemDetail::name);
}

Problem usual_problem(const Problem& problem) {
  return {problem.batch,  problem.seq_len, problem.heads,
          problem.d_head, problem.dtype,   problem.causal};
}

bool is_unusual(const ProblemDetail& detail, const Problem& problem) {
  return detail.get(problem) != detail.get(usual_problem(problem));
}

Problem changed(const Problem& problem, const std::function<void(Problem&)>& change) {
  Problem plain = problem;
  change(plain);
  Problem result = usual_problem(plain);
  for (const ProblemDetail& detail : kProblemDetails) {
    if (is_unusual(detail, problem)) {
      detail.set(result, detail.get(problem));
    }
  }
  return result;
}

DetailValue detail_value(const ProblemDetail& detail, const Problem& problem) {
  const double value = detail.get(problem);
  switch (detail.kind) {
    case Kind::flag:
      return value != 0.0;
    case Kind::layout:
      return std::string(layout_name(problem.layout));
    case Kind::number:
      return value;
    case Kind::integer:
      break;
  }
  return static_cast<std::int64_t>(value);
}

void set_detail(const ProblemDetail& detail, Problem& problem, const DetailValue& value) {
  const auto number = number_of(detail.kind, value);
  if (!number || !is_in_range(detail, *number)) {
    throw Error(ExitCode::usage, fmt::format("{} is not {}", detail.name, range_text(detail)));
  }
  detail.set(problem, *number);
}

DetailValue held_value(const ProblemDetail& detail, const DetailValue& value) {
  Problem holder;
  set_detail(detail, holder, value);
  return detail_value(detail, holder);
}

std::string detail_text(const ProblemDetail& detail, const Problem& problem) {
  switch (detail.kind) {
    case Kind::flag:
      return {};
    case Kind::layout:
      return std::string(layout_name(problem.layout));
    case Kind::number:
      return fmt::format("{}", static_cast<float>(detail.get(problem)));
    case Kind::integer:
      break;
  }
  return fmt::format("{:.0f}", detail.get(problem));
}

void check_details(const Problem& problem) {
  for (const ProblemDetail& detail : kProblemDetails) {
    if (!is_in_range(detail, detail.get(problem))) {
      throw Error(ExitCode::usage, fmt::format("{} is {}", detail.name, detail.get(problem)), {},
                  "it must be " + range_text(detail));
    }
  }
}

}  // namespace fatune
