#include "ptx/label_scopes.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace fatune {

void LabelScopes::declare(const std::string& label) {
  if (!scopes_.empty()) {
    scopes_.back().labels.push_back(label);
  }
}

void LabelScopes::declare_list(const std::string& name) {
  Scope& scope = scopes_.back();
  std::erase(scope.labels, name);
  scope.lists.push_back(name);
}

void LabelScopes::close(PtxFunction& function, std::vector<std::string>& pending) {
  const Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  if (scopes_.empty()) {
    return;
  }
  for (const std::string& label : scope.labels) {
    const std::string name = fmt::format("{}$scope{}", label, ++count_);
    rename(scope, label, name, function);
    std::ranges::replace(pending, label, name);
  }
}

void LabelScopes::rename(const Scope& scope, const std::string& from, const std::string& to,
                         PtxFunction& function) {
  for (std::size_t i = scope.first_statement; i < function.statements.size(); ++i) {
    PtxStatement& statement = function.statements[i];
    for (auto* const texts : {&statement.labels, &statement.operands, &statement.names}) {
      std::replace(texts->begin(), texts->end(), from, to);
    }
  }
  for (const std::string& list : scope.lists) {
    std::vector<std::string>& targets = function.branch_targets[list];
    std::ranges::replace(targets, from, to);
  }
}

}  // namespace fatune
