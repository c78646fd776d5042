#include "emit/coverage.hpp"

#include <fmt/format.h>

namespace fatune {

std::string incomplete_text(const Coverage& coverage) {
  return coverage.complete ? std::string()
                           : fmt::format("\nINCOMPLETE: interrupted after {} of {}\n",
                                         coverage.done, coverage.planned);
}

}  // namespace fatune
