#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ptx/module.hpp"

namespace fatune {

/// The labels of a function, scope by scope. Those of an inner scope get names that no other scope
/// has when it closes: inline assembly repeats the same ones.
class LabelScopes {
 public:
  void open(const PtxFunction& function) {
    scopes_.push_back({function.statements.size(), {}, {}});
  }

  /// "DONE:" in the innermost scope. Outside of all scopes it has no effect.
  void declare(const std::string& label);
  /// "LIST: .branchtargets ...": no label, although it looks like one. Precondition: there is a
  /// scope.
  void declare_list(const std::string& name);

  /// `pending`: labels of the next statement.
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
  std::size_t count_ = 0;  ///< of labels renamed
};

}  // namespace fatune
