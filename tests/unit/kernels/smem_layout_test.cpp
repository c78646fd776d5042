// The shared-memory layout of flash_sm80, as the kernel includes it, checked bank by bank.
#define __device__
#define __forceinline__ inline
#define FATUNE_ROW_STRIDE 2048
#define FATUNE_RAGGED_Q false
#define FATUNE_RAGGED_KV false
#define FATUNE_CAUSAL false
#define FATUNE_HEADS_FIRST false
#define FATUNE_GROUP 0
#define FATUNE_OTHER_KV_LENGTH false
#define FATUNE_WINDOW 0
#define FATUNE_ROWS_WITHOUT_KEYS false
#define FATUNE_LSE false
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "flash_sm80/smem_layout.cuh"
#pragma GCC diagnostic pop

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file_tree.hpp"
#include "model/device_limits.hpp"
#include "model/shared_tensor.hpp"
#include "plan/config_text.hpp"
#include "plan/family.hpp"
#include "plan/planner.hpp"

namespace {

constexpr unsigned kBanks = 32;

/// The number of uses of the most used bank by accesses of `bytes` at these addresses. 1 means free
/// of conflicts. Equal words count once (they are broadcast).
int worst_bank(const std::vector<unsigned>& addresses, unsigned bytes) {
  std::set<unsigned> words;
  for (const unsigned address : addresses) {
    for (unsigned byte = 0; byte < bytes; byte += 4) {
      words.insert((address + byte) / 4);
    }
  }
  std::array<int, kBanks> uses{};
  for (const unsigned word : words) {
    ++uses.at(word % kBanks);
  }
  return *std::max_element(uses.begin(), uses.end());
}

template <int kHeadDim, bool kSwizzled>
using TileShape = Shape<FlashForwardKernelConfig{5, kHeadDim, 64, 64, 4, true, true, kSwizzled, 2,
                                                 2, 2, false, true}>;

/// The worst bank over all reads of ldmatrix, which reads eight 16-byte rows at a time, one matrix
/// after the other.
template <typename S>
int worst_ldmatrix(LdmatrixLane<S> (*lane_map)(unsigned, int)) {
  int worst = 0;
  for (int first_row = 0; first_row < S::kBlockN; first_row += 16) {
    for (int block = 0; block < S::kHeadDim / 16; ++block) {
      for (int matrix = 0; matrix < 4; ++matrix) {
        std::vector<unsigned> rows;
        for (int lane = 8 * matrix; lane < 8 * matrix + 8; ++lane) {
          rows.push_back(lane_map(0U, lane).at(first_row, block));
        }
        worst = std::max(worst, worst_bank(rows, 16));
      }
    }
  }
  return worst;
}

template <typename S>
class SmemLayout : public testing::Test {};
using Swizzled = testing::Types<TileShape<64, true>, TileShape<96, true>, TileShape<128, true>,
                                TileShape<256, true>>;
TYPED_TEST_SUITE(SmemLayout, Swizzled);

TYPED_TEST(SmemLayout, SwizzledLdmatrixMeetsNoBankTwice) {
  EXPECT_EQ(worst_ldmatrix<TypeParam>(row_major_lane<TypeParam>), 1);
  EXPECT_EQ(worst_ldmatrix<TypeParam>(column_major_lane<TypeParam>), 1);
}

TYPED_TEST(SmemLayout, SwizzledCopiesMeetNoBankTwice) {
  constexpr int kChunks = TypeParam::kChunksPerRow;
  for (int first = 0; first < 8 * kChunks; first += 8) {  // the threads of a quarter-warp
    std::vector<unsigned> addresses;
    for (int thread = first; thread < first + 8; ++thread) {
      const int offset = chunk_offset<TypeParam>(thread / kChunks, thread % kChunks);
      addresses.push_back(static_cast<unsigned>(offset));
    }
    EXPECT_EQ(worst_bank(addresses, 16), 1);
  }
}

TYPED_TEST(SmemLayout, SwizzledOutputFragmentsMeetNoBankTwice) {
  for (int tile = 0; tile < TypeParam::kDimTiles; ++tile) {
    std::vector<unsigned> addresses;
    for (int lane = 0; lane < 32; ++lane) {
      addresses.push_back(
          static_cast<unsigned>(chunk_offset<TypeParam>(lane / 4, tile) + lane % 4 * 4));
    }
    EXPECT_EQ(worst_bank(addresses, 4), 1);
  }
}

TYPED_TEST(SmemLayout, EveryChunkHasItsOwnPlace) {
  std::set<int> offsets;
  for (int row = 0; row < TypeParam::kBlockN; ++row) {
    for (int chunk = 0; chunk < TypeParam::kChunksPerRow; ++chunk) {
      offsets.insert(chunk_offset<TypeParam>(row, chunk));
    }
  }
  EXPECT_EQ(offsets.size(),
            static_cast<std::size_t>(TypeParam::kBlockN * TypeParam::kChunksPerRow));
  EXPECT_EQ(*offsets.rbegin(), TypeParam::kBytesKV - 16);
}

TYPED_TEST(SmemLayout, LaneAddressesAreThoseOfTheLayout) {
  for (int lane = 0; lane < 32; ++lane) {
    const auto q = row_major_lane<TypeParam>(0U, lane);
    const auto k = column_major_lane<TypeParam>(0U, lane);
    for (int block = 0; block < TypeParam::kHeadDim / 16; ++block) {
      EXPECT_EQ(q.at(16, block), static_cast<unsigned>(chunk_offset<TypeParam>(
                                     16 + lane % 16, 2 * block + lane / 16)));
      EXPECT_EQ(k.at(16, block), static_cast<unsigned>(chunk_offset<TypeParam>(
                                     16 + lane % 8 + lane / 16 * 8, 2 * block + lane / 8 % 2)));
    }
  }
}

template <int kHeadDim>
void expect_plain_conflicts(int times) {
  using S = TileShape<kHeadDim, false>;
  EXPECT_EQ(worst_ldmatrix<S>(row_major_lane<S>), times);
  EXPECT_EQ(worst_ldmatrix<S>(column_major_lane<S>), times);
}

TEST(SmemLayoutPlain, PlainRowsMeetOneBankEightTimesOrFour) {
  expect_plain_conflicts<128>(8);
  expect_plain_conflicts<256>(8);
  expect_plain_conflicts<96>(4);
}

// --- The layout that family.json declares ---

std::vector<fatune::SharedTensor> declared(const std::string& short_form, std::int64_t d_head) {
  const fatune::FileTree files;
  const fatune::Family family = fatune::load_family(files, "flash_sm80");
  const fatune::Problem problem{1, 256, 1, d_head, fatune::DType::fp16, false};
  return fatune::shared_tensors({family, fatune::parse_config(family, short_form), problem,
                                 fatune::load_device_limits(files, {80, '\0'})});
}

/// `base` is the offset of the tile in the kernel (flash_forward.cu).
template <typename S>
void expect_kernel_layout(const fatune::SharedTensor& tensor, int base, int rows) {
  EXPECT_EQ(tensor.rows, rows) << tensor.name;
  EXPECT_EQ(tensor.columns, S::kHeadDim);
  for (int row = 0; row < rows; ++row) {
    for (int chunk = 0; chunk < S::kChunksPerRow; ++chunk) {
      const fatune::TensorPlace place{0, row, 8 * chunk};
      const int offset = base + chunk_offset<S>(row, chunk);
      EXPECT_EQ(fatune::offset_of(tensor, place), offset) << tensor.name;
      EXPECT_EQ(fatune::place_at(tensor, offset), place) << tensor.name;
    }
  }
}

template <typename S>
void expect_declared(const std::string& short_form) {
  const auto tensors = declared(short_form, S::kHeadDim);
  ASSERT_EQ(tensors.size(), 4U);
  expect_kernel_layout<S>(tensors[0], 0, S::kBlockM);
  expect_kernel_layout<S>(tensors[1], 0, S::kBlockM);
  expect_kernel_layout<S>(tensors[2], S::kBytesQ, S::kBlockN);
  expect_kernel_layout<S>(tensors[3], S::kBytesQ + S::kBytesKV, S::kBlockN);
}

TEST(SmemLayoutDeclared, IsTheKernels) {
  expect_declared<TileShape<64, true>>(
      "(FP16, 64, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles");
  expect_declared<TileShape<128, true>>(
      "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles");
  expect_declared<TileShape<96, true>>(
      "(FP16, 96, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles");
  expect_declared<TileShape<256, true>>(
      "(FP16, 256, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles");
  expect_declared<TileShape<64, false>>("(FP16, 64, 64, 64, 4): async+eager+load_2_2_2_tiles");
  expect_declared<TileShape<128, false>>("(FP16, 128, 64, 64, 4): async+eager+load_2_2_2_tiles");
}

}  // namespace
