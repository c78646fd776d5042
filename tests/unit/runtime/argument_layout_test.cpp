#include "runtime/launch_builder.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fatune_attention::detail {
namespace {

template <typename Value>
void put(ArgumentLayout& layout, Value value) {
  layout.put(&value, sizeof value, alignof(Value));
}

/// Expects the bytes of one argument to be those of a C struct whose padding is 0.
template <typename Struct>
void expect_bytes(const ArgumentLayout& layout, int argument, const Struct& expected) {
  std::vector<unsigned char> bytes(sizeof expected);
  std::memcpy(bytes.data(), layout.data() + layout.argument(argument).offset, bytes.size());
  EXPECT_EQ(std::memcmp(bytes.data(), &expected, bytes.size()), 0);
}

struct Inner {
  std::int8_t a;
  std::int64_t b;
  std::int16_t c;
};
struct Outer {
  std::int8_t first;
  Inner inner;
  std::int8_t last;
};

template <typename Struct>
Struct zeroed() {
  Struct made;
  std::memset(&made, 0, sizeof made);
  return made;
}

TEST(ArgumentLayout, LaysStructsWithinStructsOutAsCDoes) {
  ArgumentLayout layout;
  layout.begin_argument();
  layout.begin_struct(1);
  put<std::int8_t>(layout, 1);
  layout.begin_struct(1);
  put<std::int8_t>(layout, 2);
  put<std::int64_t>(layout, 3);
  put<std::int16_t>(layout, 4);
  layout.end_struct();
  put<std::int8_t>(layout, 5);
  layout.end_struct();
  layout.end_argument();
  ASSERT_EQ(layout.count(), 1);
  EXPECT_EQ(layout.bytes(), sizeof(Outer));
  EXPECT_EQ(layout.argument(0).bytes, sizeof(Outer));
  EXPECT_EQ(layout.argument(0).alignment, alignof(Outer));
  ASSERT_EQ(layout.item_count(), 5);
  EXPECT_EQ(layout.item_offset(2), offsetof(Outer, inner) + offsetof(Inner, b));
  EXPECT_EQ(layout.item_offset(4), offsetof(Outer, last));
  Outer expected = zeroed<Outer>();
  expected.first = 1;
  expected.inner.a = 2;
  expected.inner.b = 3;
  expected.inner.c = 4;
  expected.last = 5;
  expect_bytes(layout, 0, expected);
}

TEST(ArgumentLayout, AlignsEachArgument) {
  ArgumentLayout layout;
  layout.begin_argument();
  put<std::int8_t>(layout, 1);
  layout.end_argument();
  layout.begin_argument();
  put<std::int32_t>(layout, 2);
  layout.end_argument();
  layout.begin_argument();
  layout.begin_struct(64);
  put<std::int8_t>(layout, 3);
  layout.end_struct();
  layout.end_argument();
  ASSERT_EQ(layout.count(), 3);
  EXPECT_EQ(layout.argument(1).offset, 4U);
  EXPECT_EQ(layout.argument(2).offset, 64U);
  EXPECT_EQ(layout.bytes(), 128U);
  expect_bytes(layout, 2, std::int64_t{3});
}

TEST(ArgumentLayout, LeavesOutAnArgumentWithoutItems) {
  ArgumentLayout layout;
  layout.begin_argument();
  layout.end_argument();
  layout.begin_argument();
  layout.begin_struct(16);
  layout.end_struct();
  layout.end_argument();
  layout.begin_argument();
  put<std::int8_t>(layout, 1);
  layout.end_argument();
  EXPECT_EQ(layout.count(), 1);
  EXPECT_EQ(layout.argument(0).offset, 0U);
}

TEST(ArgumentLayout, FailsWhenThereIsNoRoom) {
  ArgumentLayout layout;
  const std::vector<char> bytes(ArgumentLayout::kMostBytes);
  layout.begin_argument();
  layout.put(bytes.data(), bytes.size(), 1);
  EXPECT_EQ(layout.failure(), nullptr);
  put<std::int8_t>(layout, 1);
  layout.end_argument();
  EXPECT_STREQ(layout.failure(), "the arguments have more than 32764 bytes");
}

TEST(ArgumentLayout, FailsWhenThereIsNoRoomForTheAlignment) {
  ArgumentLayout layout;
  const std::vector<char> bytes(ArgumentLayout::kMostBytes - 8);
  layout.begin_argument();
  layout.put(bytes.data(), bytes.size(), 1);
  layout.begin_struct(256);
  put<std::int8_t>(layout, 1);
  layout.end_struct();
  layout.end_argument();
  EXPECT_NE(layout.failure(), nullptr);
  EXPECT_LE(layout.bytes(), ArgumentLayout::kMostBytes);
}

TEST(ArgumentLayout, FailsOnTooManyArgumentsAndTooDeepStructs) {
  ArgumentLayout many;
  for (int i = 0; i <= ArgumentLayout::kMostArguments; ++i) {
    many.begin_argument();
    put<std::int8_t>(many, 1);
    many.end_argument();
  }
  EXPECT_STREQ(many.failure(), "the kernel has more than 200 arguments");
  ArgumentLayout deep;
  deep.begin_argument();
  for (int i = 0; i < 100; ++i) {
    deep.begin_struct(1);
  }
  for (int i = 0; i < 100; ++i) {
    deep.end_struct();
  }
  deep.end_argument();
  EXPECT_NE(deep.failure(), nullptr);
}

}  // namespace
}  // namespace fatune_attention::detail
