#include "model/shared_tensor.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace fatune {
namespace {

SharedTensor plain() { return {"sK", 1024, 2, 4096, 32, 64, 2, 64, 128, 0, 1}; }

/// A tensor of 32 rows x 64 columns in panels of `line` bytes, swizzled as by a tensor map.
SharedTensor panels(std::int64_t line) {
  return {"sV", 0, 1, 4096, 32, 64, 2, line / 2, line, line, 128 / line};
}

TEST(SharedTensor, EveryElementHasItsOwnPlaceAndIsFoundThere) {
  for (const SharedTensor& tensor : {plain(), panels(32), panels(64), panels(128)}) {
    std::set<std::int64_t> offsets;
    for (std::int64_t stage = 0; stage < tensor.stages; ++stage) {
      for (std::int64_t row = 0; row < tensor.rows; ++row) {
        for (std::int64_t column = 0; column < tensor.columns; ++column) {
          const TensorPlace place{stage, row, column};
          const std::int64_t offset = offset_of(tensor, place);
          offsets.insert(offset);
          EXPECT_EQ(place_at(tensor, offset), place);
          EXPECT_EQ(place_at(tensor, offset + 1), place) << "its second byte";
        }
      }
    }
    EXPECT_EQ(offsets.size(), static_cast<std::size_t>(tensor.stages * 32 * 64));
    EXPECT_EQ(*offsets.begin(), tensor.offset_bytes);
    EXPECT_EQ(*offsets.rbegin(), tensor.offset_bytes + tensor.stages * 4096 - 2);
  }
}

// A tensor map XORs the address bits of the 16-byte chunk with the lowest three, two or one bits
// above bit 6 (PTX ISA 9.0, "Tensors", "Swizzling Modes").
TEST(SharedTensor, SwizzlesAreThoseOfTensorMaps) {
  for (const std::int64_t line : {32, 64, 128}) {
    const SharedTensor tensor = panels(line);
    for (std::int64_t row = 0; row < 32; ++row) {
      for (std::int64_t column = 0; column < 64; column += 8) {
        const std::int64_t in_panel = row * line + column * 2 % line;
        const std::int64_t swizzled = in_panel ^ (((in_panel >> 7) % (line / 16)) << 4);
        EXPECT_EQ(offset_of(tensor, {0, row, column}), column * 2 / line * 32 * line + swizzled);
      }
    }
  }
}

TEST(SharedTensor, PaddingBelongsToNobody) {
  SharedTensor padded = plain();
  padded.row_bytes = 144;
  padded.stage_bytes = 5000;
  EXPECT_EQ(place_at(padded, 1024 + 143), std::nullopt);
  EXPECT_EQ(place_at(padded, 1024 + 144), (TensorPlace{0, 1, 0}));
  EXPECT_EQ(place_at(padded, 1024 + 32 * 144), std::nullopt);
  EXPECT_EQ(place_at(padded, 1024 + 5000), (TensorPlace{1, 0, 0}));
  EXPECT_EQ(place_at(padded, 1024 + 10000), std::nullopt);
  EXPECT_EQ(place_at(padded, 1023), std::nullopt);
}

TEST(SharedTensor, WhatTheConfigurationDoesNotHaveIsNowhere) {
  SharedTensor absent = plain();
  absent.rows = 0;
  absent.stage_bytes = 0;
  EXPECT_EQ(place_at(absent, 1024), std::nullopt);
  absent = plain();
  absent.stages = 0;
  EXPECT_EQ(place_at(absent, 1024), std::nullopt);
}

TEST(SharedTensor, BytesAreNamedForPeople) {
  SharedTensor q = plain();
  q.name = "sQ";
  q.stages = 1;
  SharedTensor o = q;
  o.name = "sO";
  SharedTensor sum = q;
  sum.name = "sSum";
  sum.element_bytes = 4;
  sum.columns = sum.panel_columns = 32;
  EXPECT_EQ(name_byte(std::vector{plain()}, 1024 + 4096 + 130), "sK stage 1 [row 1, col 1]");
  EXPECT_EQ(name_byte(std::vector{q, o}, 1024 + 130), "sQ or sO [row 1, col 1]");
  EXPECT_EQ(name_byte(std::vector{q, sum}, 1024 + 132), "sQ [row 1, col 2] or sSum [row 1, col 1]");
  EXPECT_EQ(name_byte(std::vector{q, o}, 0), "");
}

}  // namespace
}  // namespace fatune
