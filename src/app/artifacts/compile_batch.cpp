#include "app/artifacts/compile_batch.hpp"

#include <utility>

#include "app/run/session.hpp"
#include "engine/interrupt.hpp"

namespace fatune {

std::optional<Compiled> next_compiled(CompilePool& pool) {
  return InterruptWatch::interrupted() ? std::nullopt : pool.next();
}

std::vector<std::shared_ptr<const CompileResult>> compile_all(std::vector<CompileRequest> requests,
                                                              const CompileSettings& settings,
                                                              CubinCache* cache) {
  std::vector<std::shared_ptr<const CompileResult>> results(requests.size());
  CompilePool pool(std::move(requests),
                   [cache](const CompileRequest& request) { return compile(request, cache); },
                   {job_count(settings), 0});
  while (const std::optional<Compiled> compiled = next_compiled(pool)) {
    results.at(compiled->index) = compiled->result;
  }
  return results;
}

}  // namespace fatune
