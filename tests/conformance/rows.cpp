#include "conformance/rows.hpp"

namespace fatune::conformance {

std::vector<Group> row_groups() {
  std::vector<Group> all;
  for (const auto rows : {&integer_rows, &float_rows, &half_rows, &compare_rows, &convert_rows,
                          &warp_rows, &memory_rows}) {
    const std::vector<Group> groups = rows();
    all.insert(all.end(), groups.begin(), groups.end());
  }
  return all;
}

}  // namespace fatune::conformance
