#include "plan/expression_operations.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "core/text_parts.hpp"
#include "runtime/expression_math.hpp"

namespace fatune {
namespace {

namespace math = fatune_attention::math;

constexpr std::array<Operation, 26> kOperations{{
    {"||", "either", 1, 2, [](const double* v) { return math::either(v[0], v[1]); }},
    {"&&", "both", 2, 2, [](const double* v) { return math::both(v[0], v[1]); }},
    {"<=", "less_equal", 3, 2, [](const double* v) { return math::less_equal(v[0], v[1]); }},
    {">=", "greater_equal", 3, 2, [](const double* v) { return math::greater_equal(v[0], v[1]); }},
    {"==", "equal", 3, 2, [](const double* v) { return math::equal(v[0], v[1]); }},
    {"!=", "not_equal", 3, 2, [](const double* v) { return math::not_equal(v[0], v[1]); }},
    {"<", "less", 3, 2, [](const double* v) { return math::less(v[0], v[1]); }},
    {">", "greater", 3, 2, [](const double* v) { return math::greater(v[0], v[1]); }},
    {"+", "", 4, 2, [](const double* v) { return v[0] + v[1]; }},
    {"-", "", 4, 2, [](const double* v) { return v[0] - v[1]; }},
    {"*", "", 5, 2, [](const double* v) { return v[0] * v[1]; }},
    {"/", "", 5, 2, [](const double* v) { return v[0] / v[1]; }},
    {"%", "remainder_of", 5, 2, [](const double* v) { return math::remainder_of(v[0], v[1]); }},
    {"^", "power", kPowerBinding, 2, [](const double* v) { return math::power(v[0], v[1]); }},
    {"-", "", 0, 1, [](const double* v) { return -v[0]; }},
    {"!", "logical_not", 0, 1, [](const double* v) { return math::logical_not(v[0]); }},
    {kConditional, "conditional", 0, 3,
     [](const double* v) { return math::conditional(v[0], v[1], v[2]); }},
    {"min", "least", 0, kAnyCount, [](const double* v) { return math::least(v[0], v[1]); }},
    {"max", "greatest", 0, kAnyCount, [](const double* v) { return math::greatest(v[0], v[1]); }},
    {"ceil_div", "ceil_div", 0, 2, [](const double* v) { return math::ceil_div(v[0], v[1]); }},
    {"round_up", "round_up", 0, 2, [](const double* v) { return math::round_up(v[0], v[1]); }},
    {"floor", "floor_of", 0, 1, [](const double* v) { return math::floor_of(v[0]); }},
    {"is_pow2", "is_pow2", 0, 1, [](const double* v) { return math::is_pow2(v[0]); }},
    {"ceil_log2", "ceil_log2", 0, 1, [](const double* v) { return math::ceil_log2(v[0]); }},
    {"umulhi_magic", "umulhi_magic", 0, 1,
     [](const double* v) { return math::umulhi_magic(v[0]); }},
    {"tile_sum", "tile_sum", 0, 5,
     [](const double* v) { return math::tile_sum(v[0], v[1], v[2], v[3], v[4]); }},
}};

bool is_function(const Operation& one) {
  return std::isalpha(static_cast<unsigned char>(one.word.front())) != 0;
}

}  // namespace

bool Operation::takes(std::size_t count) const {
  return operands == kAnyCount ? count > 0 : count == operands;
}

double Operation::of(std::span<const double> values) const {
  if (operands != kAnyCount) {
    return result(values.data());
  }
  std::array<double, 2> pair{values[0], values[0]};
  for (const double value : values) {
    pair = {result(pair.data()), value};
  }
  return result(pair.data());
}

std::span<const Operation> all_operations() { return kOperations; }

const Operation* find_function(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kOperations, [&](const Operation& one) { return is_function(one) && one.word == name; });
  return found == kOperations.end() ? nullptr : found;
}

const Operation& operator_of(std::string_view word, std::size_t operands) {
  return *std::ranges::find_if(kOperations, [&](const Operation& one) {
    return one.word == word && one.operands == operands;
  });
}

std::string function_names() {
  std::vector<std::string_view> names;
  for (const Operation& one : kOperations) {
    if (is_function(one)) {
      names.push_back(one.word);
    }
  }
  return joined(names, ", ");
}

}  // namespace fatune
