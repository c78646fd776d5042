#include "library/kernel_key.hpp"

#include <variant>

#include "plan/scope.hpp"

namespace fatune {
namespace {

/// Whether it differs between problems or devices. Parameters alone do not.
bool varies(Needs needs) { return needs.problem || needs.device; }

class Parts {
 public:
  explicit Parts(const Family& family) : family_(family) {}

  void add(const Expression& expression) {
    if (varies(expression.needs())) {
      found_.push_back({&expression, 0});
    }
  }
  void add(const Reason& text) {
    for (const Reason::Hole& hole : text.holes()) {
      if (hole.expression) {
        add(*hole.expression);
      } else if (varies(family_.symbols.needs(hole.symbol))) {
        found_.push_back({nullptr, hole.symbol});
      }
    }
  }
  template <typename Value>
  void add_conditions(const Choice<Value>& choice) {
    for (const auto& item : choice.items) {
      if (item.when) {
        add(*item.when);
      }
    }
  }
  void add(const Define& define) {
    add_conditions(define.value);
    for (const auto& item : define.value.items) {
      if (const auto* number = std::get_if<Expression>(&item.value)) {
        add(*number);
      } else if (const auto* text = std::get_if<Reason>(&item.value)) {
        add(*text);
      }
    }
  }
  [[nodiscard]] std::vector<KeyPart> found() && { return std::move(found_); }

 private:
  const Family& family_;
  std::vector<KeyPart> found_;
};

}  // namespace

std::vector<KeyPart> key_parts(const Family& family) {
  Parts parts(family);
  parts.add_conditions(family.sources);
  parts.add_conditions(family.entry);
  for (const auto& option : family.options) {
    parts.add_conditions(option);
  }
  for (const Define& define : family.defines) {
    parts.add(define);
  }
  return std::move(parts).found();
}

std::vector<double> kernel_key(const Family& family, const Config& config, const Problem& problem,
                               const DeviceLimits& limits) {
  const std::vector<double> scope = make_scope(family, config, &problem, &limits);
  std::vector<double> key{static_cast<double>(limits.arch.sm)};
  for (const KeyPart& part : key_parts(family)) {
    key.push_back(part.expression != nullptr ? part.expression->number(scope) : scope[part.symbol]);
  }
  return key;
}

std::size_t key_length(const Family& family) { return 1 + key_parts(family).size(); }

}  // namespace fatune
