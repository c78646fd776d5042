#include "compile/compile_each.hpp"

#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <string>

#include "core/task_pool.hpp"

namespace fatune {
namespace {

/// Indices of requests with the same key.
using Group = std::vector<std::size_t>;

std::vector<Group> group_by_key(const std::vector<CompileRequest>& requests) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> group_of_key;
  for (std::size_t index = 0; index < requests.size(); ++index) {
    const auto [found, is_new] =
        group_of_key.try_emplace(artifact_key(requests[index]), groups.size());
    if (is_new) {
      groups.emplace_back();
    }
    groups[found->second].push_back(index);
  }
  return groups;
}

}  // namespace

std::shared_ptr<const CompileResult> compile_guarded(const CompileFunction& compile_one,
                                                     const CompileRequest& request) {
  try {
    return std::make_shared<const CompileResult>(compile_one(request));
  } catch (const std::exception& error) {
    return std::make_shared<const CompileResult>(CompileFailed{error.what()});
  }
}

void compile_each(const std::vector<CompileRequest>& requests, const CompileFunction& compile_one,
                  int jobs, const TakeCompiled& take) {
  const std::vector<Group> groups = group_by_key(requests);
  std::mutex taking;
  std::atomic<bool> stopped = false;
  for_each_index(groups.size(), jobs, [&](std::size_t i) {
    if (stopped) {
      return;
    }
    const auto result = compile_guarded(compile_one, requests[groups[i].front()]);
    const std::lock_guard lock(taking);
    for (const std::size_t index : groups[i]) {
      stopped = stopped || !take(index, result);
    }
  });
}

}  // namespace fatune
