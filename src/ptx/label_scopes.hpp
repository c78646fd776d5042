#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ptx/module.hpp"

namespace fatune {

/// The labels of a function, by scope. When an inner scope closes, its labels get names that no
/// other scope has, because inline assembly repeats the same labels.
class LabelScopes {
 public:
  void open(const PtxFunction& function) {
    scopes_.push_back({function.statements.size(), {}, {}});
  }

  /// Declares "DONE:" in the innermost scope. Outside of all scopes it has no effect.
  void declare(const std::string& label);
  /// Declares the list of "LIST: .branchtargets ...", which looks like a label but is none.
  /// Precondition: a scope is open.
  void declare_list(const std::string& name);

  /// Closes the innermost scope. `pending`: labels of the next statement.
  void close(PtxFunction& function, std::vector<std::string>& pending);

 private:
  struct Scope {
    std::size_t first_statement = 0;
    std::vector<std::string> labels;
    std::vector<std::string> lists;
  };

  static void rename(const Scope& scope, const std::string& from, const std::string& to,
                     PtxFunction& function);

  std::vector<Scope> scopes_;
  std::size_t count_ = 0;  ///< how many labels were renamed
};

}  // namespace fatune
