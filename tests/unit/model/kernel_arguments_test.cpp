
#include <gmock/gmock.h>

#include <cstring>

#include "model/kernel_code.hpp"

namespace fatune {
namespace {

using ::testing::ElementsAre;

template <typename Value>
Value argument_at(const std::vector<std::uint8_t>& bytes, std::size_t offset) {
  Value value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

ArgumentEncoder encoder() {
  return {[](const std::string& tensor) { return tensor == "q" ? 0x1000ULL : 0x2000ULL; },
          [](const TensorMapPiece& map, std::uint64_t address) {
            TensorMapBytes bytes{};
            bytes[0] = static_cast<std::uint8_t>(map.sizes.size());
            std::memcpy(bytes.data() + 8, &address, sizeof address);
            return bytes;
          }};
}

KernelArguments sample() {
  KernelArgument structure{"/arguments/0", 24, 8, {}, {}, {}};
  structure.scalars = {{0, 1, 1}, {4, 4, 0x3f800000}};
  structure.addresses = {{8, "q", 16}, {16, "o", 0}};
  KernelArgument flag{"/arguments/1", 4, 4, {{0, 4, 7}}, {}, {}};
  KernelArgument map{"/arguments/2", 128, 64, {}, {}, {}};
  map.tensor_maps.emplace_back();
  map.tensor_maps[0].tensor = "q";
  map.tensor_maps[0].byte_offset = 256;
  map.tensor_maps[0].sizes = {64, 128};
  return {false, {structure, flag, map}, {}};
}

TEST(KernelArguments, LieOneAfterAnotherAsTheyAreAligned) {
  EXPECT_THAT(argument_offsets(sample().list), ElementsAre(0, 24, 64, 192));
  EXPECT_THAT(argument_offsets({}), ElementsAre(0));
}

TEST(KernelArguments, ArePackedWithAddressesAndMaps) {
  const std::vector<std::uint8_t> bytes = pack_arguments(sample(), encoder());
  ASSERT_EQ(bytes.size(), 192U);
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(argument_at<float>(bytes, 4), 1.0F);
  EXPECT_EQ(argument_at<std::uint64_t>(bytes, 8), 0x1010U);
  EXPECT_EQ(argument_at<std::uint64_t>(bytes, 16), 0x2000U);
  EXPECT_EQ(argument_at<int>(bytes, 24), 7);
  EXPECT_EQ(argument_at<std::uint64_t>(bytes, 28), 0U) << "padding";
  EXPECT_EQ(bytes[64], 2);
  EXPECT_EQ(argument_at<std::uint64_t>(bytes, 72), 0x1100U);
}

TEST(SameLaunch, LooksAtArgumentsThatDoNotFollowFromTheProblem) {
  LaunchGeometry a{{1, 2, 3}, {128, 1, 1}, 0};
  LaunchGeometry b = a;
  b.arguments.list.push_back(sample().list[1]);
  EXPECT_TRUE(same_launch(a, b)) << "both are standard";
  b.arguments.standard = false;
  EXPECT_FALSE(same_launch(a, b));
  a.arguments = b.arguments;
  EXPECT_TRUE(same_launch(a, b));
  b.arguments.list[0].scalars[0].bits = 8;
  EXPECT_FALSE(same_launch(a, b));
  b = a;
  b.cluster = {2, 1, 1};
  EXPECT_FALSE(same_launch(a, b));
}

}  // namespace
}  // namespace fatune
