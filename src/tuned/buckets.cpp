#include "tuned/buckets.hpp"

#include "tuned/runtime_table.hpp"

namespace fatune {

Coordinates coordinates_of(const Problem& problem, int sm_count) {
  return fatune_attention::detail::coordinates_of(
      {runtime_problem(problem), problem.layout == Layout::bhsd}, sm_count);
}

}  // namespace fatune
