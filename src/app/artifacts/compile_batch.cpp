#include "app/artifacts/compile_batch.hpp"

#include "app/run/session.hpp"
#include "compile/compile_each.hpp"
#include "engine/interrupt.hpp"

namespace fatune {

std::vector<std::shared_ptr<const CompileResult>> compile_all(
    const std::vector<CompileRequest>& requests, const CompileSettings& settings,
    CubinCache* cache) {
  std::vector<std::shared_ptr<const CompileResult>> results(requests.size());
  compile_each(
      requests, [cache](const CompileRequest& request) { return compile(request, cache); },
      job_count(settings),
      [&](std::size_t index, const auto& result) {
        results.at(index) = result;
        return !InterruptWatch::interrupted();
      });
  return results;
}

}  // namespace fatune
