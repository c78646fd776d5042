#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/ptx/parse_ptx.hpp"

namespace fatune {

/// Whether an instruction writes or reads the registers of one of its operands.
struct OperandEffect {
  bool writes = false;
  bool reads = true;
};

/// Returns the effect of each operand. The first operand is the result, unless it is an address.
/// The few opcodes with other rules are handled too.
/// Source: PTX ISA 9.0, chapter 9.
[[nodiscard]] std::vector<OperandEffect> operand_effects(std::string_view opcode,
                                                         const std::vector<std::string>& operands);

/// The registers and labels of a function, by scope. A name is a register if an enclosing scope
/// declares it, so %tid and the like are not registers. When an inner scope closes, its labels get
/// names that no other scope has, because inline assembly repeats the same labels.
class PtxScopes {
 public:
  void open(const PtxFunction& function) {
    scopes_.emplace_back().first_statement = function.statements.size();
  }
  /// Closes the innermost scope. `pending`: labels of the next statement.
  void close(PtxFunction& function, std::vector<std::string>& pending);
  [[nodiscard]] std::size_t depth() const { return scopes_.size(); }

  /// Declares ".reg .b32 %r<67>" or ".reg .pred p, q" in the innermost scope. Precondition: there
  /// is one.
  void declare_registers(std::string_view directive);
  /// Declares "DONE:" in the innermost scope. Outside of all scopes it has no effect.
  void declare_label(const std::string& label);
  /// Declares the list of "LIST: .branchtargets ...", which looks like a label but is none.
  /// Precondition: a scope is open.
  void declare_list(const std::string& name);

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
    std::map<std::string, Declared, std::less<>> registers;
    std::map<std::string, std::size_t, std::less<>> used;  ///< names, and their indices
    std::size_t first_statement = 0;
    std::vector<std::string> labels;
    std::vector<std::string> lists;
  };

  [[nodiscard]] std::optional<std::size_t> look_up(std::string_view name);
  static const Declared* declaration_of(const Scope& scope, std::string_view name);
  static void rename(const Scope& scope, const std::string& from, const std::string& to,
                     PtxFunction& function);

  std::vector<Scope> scopes_;
  std::vector<std::string> names_;
  std::vector<std::string> types_;
  std::size_t renamed_ = 0;  ///< how many labels were renamed
};

}  // namespace fatune
