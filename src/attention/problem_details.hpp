#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "attention/problem.hpp"

// What code that reads, shows, stores or asks for the properties in kProblemDetails needs.
namespace fatune {

/// Precondition: a detail has this name.
[[nodiscard]] const ProblemDetail& find_detail(std::string_view name);

/// The problem with the same first six properties and usual details.
[[nodiscard]] Problem usual_problem(const Problem& problem);
[[nodiscard]] bool is_unusual(const ProblemDetail& detail, const Problem& problem);

/// Returns the problem after `change`, which may set any of the first six properties. Details that
/// were usual before are usual for the new problem.
[[nodiscard]] Problem changed(const Problem& problem, const std::function<void(Problem&)>& change);

/// An integer, a number, whether a flag is on, or the layout's name.
using DetailValue = std::variant<std::int64_t, double, bool, std::string>;

[[nodiscard]] DetailValue detail_value(const ProblemDetail& detail, const Problem& problem);
/// Throws Error(usage) for a value of another kind or out of range. An integer is a number too.
void set_detail(const ProblemDetail& detail, Problem& problem, const DetailValue& value);

/// The value as a problem holds it, in the detail's own kind: what detail_value() returns after
/// set_detail(). Throws as set_detail() does.
[[nodiscard]] DetailValue held_value(const ProblemDetail& detail, const DetailValue& value);

/// Values for some of the details, in the table's order.
using DetailValues = std::map<const ProblemDetail*, DetailValue>;

/// "8192", "0.125", "bhsd"; empty for a flag.
[[nodiscard]] std::string detail_text(const ProblemDetail& detail, const Problem& problem);

/// Throws Error(usage) for a value out of range.
void check_details(const Problem& problem);

/// The attention of a published model: a problem without batch and lengths.
struct ProblemPreset {
  std::string name;
  std::int64_t heads = 0;
  std::int64_t d_head = 0;
  DType dtype = DType::fp16;
  bool causal = false;
  DetailValues details;
  std::string note;    ///< what a problem cannot say about the model; may be empty
  std::string source;  ///< where the model's publisher states the values
};

}  // namespace fatune
