#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fatune {

/// The registers of a function. A name is a register if an enclosing scope declares it, so %tid and
/// the like are not registers.
class RegisterScopes {
 public:
  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  [[nodiscard]] std::size_t depth() const { return scopes_.size(); }

  /// Declares ".reg .b32 %r<67>" or ".reg .pred p, q" in the innermost scope. Precondition: there
  /// is one.
  void declare(std::string_view directive);

  /// The registers in this text, as indices into names(), in order.
  [[nodiscard]] std::vector<std::size_t> find(std::string_view text);
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The type of each of names(): "pred", "b32".
  [[nodiscard]] const std::vector<std::string>& types() const { return types_; }

 private:
  struct Declared {
    bool is_prefix = false;  ///< "%r" for %r<67>
    std::string type;
  };
  struct Scope {
    std::map<std::string, Declared, std::less<>> declared;
    std::map<std::string, std::size_t, std::less<>> used;
  };

  [[nodiscard]] std::optional<std::size_t> look_up(std::string_view name);

  std::vector<Scope> scopes_;
  static const Declared* declaration_of(const Scope& scope, std::string_view name);

  std::vector<std::string> names_;
  std::vector<std::string> types_;
};

}  // namespace fatune
