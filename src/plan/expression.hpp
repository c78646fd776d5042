#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "plan/expression_tree.hpp"

namespace fatune {

class JsonNode;

/// The facts that a value needs: nothing (parameters alone), a problem, a device, or of the problem
/// no more than the type of K and V, which is known when configurations are planned.
struct Needs {
  bool problem = false;
  bool device = false;
  bool kv_dtype = false;

  [[nodiscard]] bool within(Needs known) const {
    return (!problem || known.problem) && (!device || known.device) &&
           (!kv_dtype || known.kv_dtype || known.problem);
  }
  void add(Needs more) {
    problem = problem || more.problem;
    device = device || more.device;
    kv_dtype = kv_dtype || more.kv_dtype;
  }
  bool operator==(const Needs&) const = default;
};

/// The names that an expression may use. A name's index is the place of its value in the scope that
/// an expression is evaluated against.
class SymbolTable {
 public:
  /// Returns the index. Throws std::invalid_argument if the name is not an identifier or is taken.
  std::size_t add(const std::string& name, Needs needs);

  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  [[nodiscard]] const std::string& name(std::size_t index) const { return names_.at(index); }
  [[nodiscard]] Needs needs(std::size_t index) const { return needs_.at(index); }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  /// The names whose needs are within `known`, in order, for messages.
  [[nodiscard]] std::vector<std::string> names(Needs known) const;

 private:
  std::vector<std::string> names_;
  std::vector<Needs> needs_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

/// True for a letter or underscore followed by letters, digits and underscores, at most 64.
[[nodiscard]] bool is_identifier(std::string_view text);

/// The same for a name of any length.
[[nodiscard]] bool is_code_name(std::string_view text);

/// An arithmetic expression of a data file, compiled once and evaluated against many scopes.
/// Operators, loosest first: ?:  ||  &&  == != < <= > >=  + -  * / %  ^ (power)  ! -(sign).
/// Functions: min(a, ...), max(a, ...), ceil_div(a, b), round_up(a, b), floor(x), is_pow2(x), and
/// those of expression_tree.hpp. `inf` is infinity, unless a symbol has that name. Conditions
/// are 0 or 1; any number but 0 holds. `?:` evaluates only the branch it takes. Numbers are IEEE
/// doubles with a decimal point whatever the locale. A division by zero that the result depends on,
/// even through a comparison, is an error. Cheap to copy; may be evaluated from several threads.
class Expression {
 public:
  /// `where` is the file and pointer of the text. Throws Error(bad_file) for a syntax error, or for
  /// a name that is not in `symbols` or needs more than `known`. The message lists the known names.
  Expression(std::string text, const SymbolTable& symbols, std::string where,
             Needs known = {.problem = true, .device = true});
  /// The same for the text and the place of a node.
  Expression(const JsonNode& node, const SymbolTable& symbols,
             Needs known = {.problem = true, .device = true});
  /// The operation on other expressions, which have the place of the first in messages.
  Expression(const Operation& operation, const std::vector<Expression>& operands);
  /// A constant.
  explicit Expression(double value, std::string where = {});

  /// `scope` has a value for every symbol of the table. Throws Error(bad_file) if the result is not
  /// finite (division by zero) or, for `integer`, not a whole number within +-2^53.
  [[nodiscard]] double number(std::span<const double> scope) const;
  /// Like number(), but may be infinite if the expression itself names `inf`.
  [[nodiscard]] double number_or_infinity(std::span<const double> scope) const;
  [[nodiscard]] std::int64_t integer(std::span<const double> scope) const;
  [[nodiscard]] bool holds(std::span<const double> scope) const { return number(scope) != 0.0; }

  [[nodiscard]] Needs needs() const;
  [[nodiscard]] const std::string& text() const;
  /// The names of its leaves have their symbols; `inf` is a number.
  [[nodiscard]] const ExpressionTree& tree() const;
  [[nodiscard]] const std::string& where() const;  ///< file and pointer
  [[nodiscard]] bool names_infinity() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

/// The expression that is a member of the object. Absent: it has no such member.
[[nodiscard]] std::optional<Expression> find_expression(const JsonNode& object, const char* member,
                                                        const SymbolTable& symbols,
                                                        Needs known = {.problem = true,
                                                                       .device = true});

/// A problem for which an expression gives more than a grid, an argument or a number can hold.
class TooLargeProblem : public Error {
 public:
  using Error::Error;
};

/// Throws a TooLargeProblem if the value is too great and depends on the problem; otherwise
/// Error(bad_file), because the file is wrong.
[[noreturn]] void fail_value(const Expression& of, bool is_too_great, const std::string& what);

/// The C++ for a symbol of an expression's SymbolTable.
using CodeOfSymbol = std::function<std::string(std::size_t symbol)>;

/// Translates the expression to C++ that has the same value and calls the functions of
/// runtime/expression_math.hpp (namespace `math`): "a + 2 * b" becomes "(a + (2.0 * b))".
/// `code_of_symbol` is called in the order of the names in the text.
[[nodiscard]] std::string cpp_of(const Expression& expression, const CodeOfSymbol& code_of_symbol);

/// A number as a C++ literal that reads back as the same number: "64.0", "0.1".
[[nodiscard]] std::string cpp_number(double value);

}  // namespace fatune
