#include "plan/expression.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <deque>
#include <limits>
#include <mutex>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <muParser.h>

#include "core/error.hpp"
#include "plan/expression_functions.hpp"
#include "plan/expression_operators.hpp"
#include "plan/parameter.hpp"
#include "plan/text_cursor.hpp"

namespace fatune {

bool is_identifier(std::string_view text) { return text.size() <= 64 && is_code_name(text); }

bool is_code_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_word_character) &&
         std::isdigit(static_cast<unsigned char>(text.front())) == 0;
}

std::size_t SymbolTable::add(const std::string& name, Needs needs) {
  if (!is_identifier(name)) {
    throw std::invalid_argument(fmt::format("'{}' is not an identifier", name));
  }
  if (!index_.emplace(name, names_.size()).second) {
    throw std::invalid_argument(fmt::format("the name '{}' is taken", name));
  }
  names_.push_back(name);
  needs_.push_back(needs);
  return names_.size() - 1;
}

std::optional<std::size_t> SymbolTable::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> SymbolTable::names(Needs known) const {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (needs_[i].within(known)) {
      found.push_back(names_[i]);
    }
  }
  return found;
}

namespace {

constexpr const char* kInfinityName = "inf";
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53

/// The position of the first character that no expression has: an unknown one, or a lone '=', which
/// muParser takes as an assignment.
std::size_t first_foreign_character(std::string_view text) {
  constexpr std::string_view kPunctuation = " \t\n_.(),+-*/%^<>!&|?:";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool compares = i + 1 < text.size() && text[i + 1] == '=' &&
                          std::string_view("=!<>").find(text[i]) != std::string_view::npos;
    if (compares) {
      ++i;
    } else if (c >= 128 ||
               (std::isalnum(c) == 0 && kPunctuation.find(text[i]) == std::string_view::npos)) {
      return i;
    }
  }
  return std::string_view::npos;
}

}  // namespace

struct Expression::Impl {
  Impl(std::string text_, const SymbolTable& symbols_, std::string where_, Needs known_)
      : text(std::move(text_)), where(std::move(where_)), symbols(&symbols_), known(known_) {
    check_characters();
    define_names();
    parser.SetVarFactory(&Impl::on_name, this);
    compile();
    symbols = nullptr;
  }

  // Called by muParser for a name that it meets for the first time.
  static double* on_name(const char* name, void* self) {
    return static_cast<Impl*>(self)->bind(name);
  }

  double* bind(const std::string& name) {
    const auto symbol = symbols->find(name);
    if (!symbol && name == kInfinityName) {
      names_infinity = true;
      return &infinity;
    }
    if (!symbol || !symbols->needs(*symbol).within(known)) {
      fail(fmt::format("{} name '{}'", symbol ? "cannot use the" : "unknown", name),
           fmt::format("names known here: {}", fmt::join(symbols->names(known), ", ")));
    }
    const Needs more = symbols->needs(*symbol);
    needs.problem = needs.problem || more.problem;
    needs.device = needs.device || more.device;
    used.push_back(*symbol);
    return &values.emplace_back(0.0);
  }

  void check_characters() const {
    if (text.size() > kMaxLength) {
      throw Error(ExitCode::bad_file,
                  fmt::format("an expression of {} characters is too long", text.size()), where,
                  fmt::format("the limit is {}", kMaxLength));
    }
    if (const std::size_t at = first_foreign_character(text); at != std::string::npos) {
      fail(fmt::format("cannot read the character at position {}", at + 1),
           "expressions are made of names, numbers, operators and functions; '==' compares");
    }
  }

  void define_names() {
    parser.ClearFun();
    parser.ClearConst();
    define_operators(parser);
    define_functions(parser);
  }

  // muParser compiles at the first evaluation, whose value is ignored.
  void compile() {
    try {
      parser.SetExpr(text);
      parser.Eval();
      if (parser.GetNumResults() != 1) {
        fail("gives more than one value", "a ',' belongs between the arguments of a function");
      }
    } catch (const mu::ParserError& error) {
      fail_syntax(error);
    }
  }

  [[noreturn]] void fail_syntax(const mu::ParserError& error) const {
    fail(fmt::format("{} (position {})", error.GetMsg(), error.GetPos() + 1),
         fmt::format("functions: {}; operators: ?: || && == != < <= > >= + - * / % ^ !",
                     function_names()));
  }

  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const {
    throw Error(ExitCode::bad_file,
                fmt::format("in the expression \"{}\": {}", printable(text, kMaxLength), what),
                where, remedy);
  }

  double evaluate(std::span<const double> scope) const {
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < used.size(); ++i) {
      values[i] = scope[used[i]];
    }
    const UnknownComparisons unknown;
    try {
      const double value = parser.Eval();
      return unknown.any() ? kNotANumber : value;
    } catch (const mu::ParserError& error) {
      fail_syntax(error);
    }
  }

  /// The inputs of a bad result: "B_c = 0, seq_len = 512".
  std::string inputs(std::span<const double> scope) const {
    std::vector<std::string> shown;
    for (const auto& [name, value] : parser.GetVar()) {
      const auto at =
          std::ranges::find_if(values, [v = value](const double& own) { return &own == v; });
      const auto index = static_cast<std::size_t>(at - values.begin());
      if (at == values.end()) {
        continue;  // infinity
      }
      shown.push_back(fmt::format("{} = {}", name, symbol_text(name, scope[used[index]])));
    }
    return shown.empty() ? "" : fmt::format(" for {}", fmt::join(shown, ", "));
  }

  std::string text;
  std::string where;
  const SymbolTable* symbols;  ///< set only while compiling
  Needs known;
  Needs needs;
  std::vector<std::size_t> used;  ///< symbols, in the order of `values`
  // muParser's byte code points at `values`: evaluating writes them, hence the lock.
  mutable std::deque<double> values;
  double infinity = std::numeric_limits<double>::infinity();
  bool names_infinity = false;
  mutable std::mutex mutex;
  mu::Parser parser;
};

Expression::Expression(std::string text, const SymbolTable& symbols, std::string where, Needs known)
    : impl_(std::make_shared<Impl>(std::move(text), symbols, std::move(where), known)) {}

double Expression::number(std::span<const double> scope) const {
  const double value = impl_->evaluate(scope);
  if (!std::isfinite(value)) {
    impl_->fail(fmt::format("the result is not a finite number{}", impl_->inputs(scope)),
                "is something divided by zero?");
  }
  return value;
}

double Expression::number_or_infinity(std::span<const double> scope) const {
  const double value = impl_->evaluate(scope);
  return impl_->names_infinity && std::isinf(value) ? value : number(scope);
}

std::int64_t Expression::integer(std::span<const double> scope) const {
  const double value = number(scope);
  if (std::trunc(value) != value || std::abs(value) > kMaxExactInteger) {
    if (value > kMaxExactInteger) {
      fail_value(*this, Misfit::too_great,
                 fmt::format("\"{}\" gives {}, more than 2^53", text(), value), impl_->where);
    }
    impl_->fail(fmt::format("the result {} is not a whole number{}", value, impl_->inputs(scope)),
                "ceil_div(a, b) and floor(x) give whole numbers");
  }
  return static_cast<std::int64_t>(value);
}

bool Expression::holds(std::span<const double> scope) const { return number(scope) != 0.0; }

Needs Expression::needs() const { return impl_->needs; }

const std::string& Expression::text() const { return impl_->text; }

void fail_value(const Expression& of, Misfit misfit, const std::string& what,
                const std::string& where) {
  if (misfit == Misfit::too_great && of.needs().problem) {
    throw TooLargeProblem(ExitCode::bad_file, what, where);
  }
  throw Error(ExitCode::bad_file, what, where);
}

}  // namespace fatune
