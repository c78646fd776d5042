#pragma once

#include <string>
#include <vector>

#include "conformance/case.hpp"

// The table of cases, by group. The groups are in rows_<subject>.cpp.
namespace fatune::conformance {

struct Group {
  std::string name;
  std::vector<Row> rows;
};

[[nodiscard]] std::vector<Group> integer_rows();
[[nodiscard]] std::vector<Group> float_rows();
[[nodiscard]] std::vector<Group> half_rows();
[[nodiscard]] std::vector<Group> compare_rows();
[[nodiscard]] std::vector<Group> convert_rows();
[[nodiscard]] std::vector<Group> warp_rows();
[[nodiscard]] std::vector<Group> memory_rows();

/// All groups.
[[nodiscard]] std::vector<Group> row_groups();

}  // namespace fatune::conformance
