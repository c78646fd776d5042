#include "golden_file.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace fatune::testing_golden {

std::filesystem::path golden_file(const std::string& name) {
  return std::filesystem::path(FATUNE_SOURCE_DIR) / "tests" / "golden" / name;
}

bool updates_golden() { return std::getenv("UPDATE_GOLDEN") != nullptr; }

void expect_golden(const std::string& text, const std::string& name) {
  if (updates_golden()) {
    std::ofstream(golden_file(name), std::ios::binary) << text;
    return;
  }
  std::ifstream file(golden_file(name), std::ios::binary);
  EXPECT_TRUE(file.is_open()) << golden_file(name);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, expected) << "if this is meant, run again with UPDATE_GOLDEN=1";
}

}  // namespace fatune::testing_golden
