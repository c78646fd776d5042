#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace fatune {

inline std::string recorded_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Reads a file of tests/recorded/ncu.
inline std::string recorded(const std::string& name) {
  return recorded_file(FATUNE_SOURCE_DIR "/tests/recorded/ncu/" + name);
}

/// Reads a file of tests/recorded/nsys.
inline std::string recorded_nsys(const std::string& name) {
  return recorded_file(FATUNE_SOURCE_DIR "/tests/recorded/nsys/" + name);
}

}  // namespace fatune
