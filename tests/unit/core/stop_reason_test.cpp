#include "core/stop_reason.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace fatune {
namespace {

TEST(StopReason, IsReadBackByItsName) {
  for (int i = 0; i <= static_cast<int>(StopReason::nobody_left); ++i) {
    const auto reason = static_cast<StopReason>(i);
    EXPECT_EQ(parse_stop_reason(stop_reason_name(reason)), reason);
  }
  EXPECT_EQ(stop_reason_name(StopReason::not_yet), "interrupted");
  EXPECT_EQ(stop_reason_name(StopReason::noise), "noise stopped falling");
  EXPECT_EQ(stop_reason_name(StopReason::nobody_left), "nobody left");
}

TEST(StopReason, RefusesOtherNames) { EXPECT_THROW((void)parse_stop_reason("bored"), Error); }

}  // namespace
}  // namespace fatune
