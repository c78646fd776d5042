#include "print/files.hpp"

#include <gmock/gmock.h>

#include <cstring>

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::size_t header_bytes(const std::string& npy) {
  const auto low = static_cast<unsigned char>(npy[8]);
  const auto high = static_cast<unsigned char>(npy[9]);
  return 10 + low + 256 * std::size_t{high};
}

TEST(Npy, HasTheHeaderThatNumpyDescribes) {
  const std::string npy = npy_float64({2, 3}, std::vector<double>(6));
  EXPECT_THAT(npy, StartsWith(std::string("\x93NUMPY\x01\x00", 8)));
  EXPECT_THAT(npy, HasSubstr("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3,), }"));
  EXPECT_EQ(header_bytes(npy) % 64, 0U);
  EXPECT_EQ(npy[header_bytes(npy) - 1], '\n');
  EXPECT_EQ(npy.size(), header_bytes(npy) + 6 * sizeof(double));
}

TEST(Npy, TheDataStartsAtAMultipleOf64WhateverTheShape) {
  for (std::int64_t rows = 1; rows <= 1'000'000'000; rows *= 10) {
    EXPECT_EQ(header_bytes(npy_float32({rows, 128}, {})) % 64, 0U) << rows;
  }
}

TEST(Npy, ValuesFollowInOrder) {
  const std::string npy = npy_float32({3}, std::vector<double>{1.5, -2.0, 3.0});
  EXPECT_THAT(npy, HasSubstr("'<f4'"));
  float values[3];
  std::memcpy(values, npy.data() + header_bytes(npy), sizeof values);
  EXPECT_EQ(values[0], 1.5F);
  EXPECT_EQ(values[1], -2.0F);
  EXPECT_EQ(values[2], 3.0F);
}

}  // namespace
}  // namespace fatune
