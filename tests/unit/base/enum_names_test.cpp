#include "base/enum_names.hpp"

#include "model/measure_policy.hpp"
#include "model/outcome.hpp"
#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

template <typename Enum>
void expect_read_back(Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const auto value = static_cast<Enum>(i);
    EXPECT_FALSE(enum_name(value).empty());
    EXPECT_EQ(parse_enum<Enum>(enum_name(value)), value);
  }
  EXPECT_FALSE(find_enum<Enum>("else"));
}

TEST(EnumNames, AreReadBack) {
  expect_read_back(EstimateSource::calibration);
  expect_read_back(StopReason::nobody_left);
  expect_read_back(SearchKind::model);
  expect_read_back(Strategy::race);
}

TEST(EnumNames, AreThoseOfTheirValues) {
  EXPECT_EQ(enum_name(EstimateSource::calibration), "calibration");
  EXPECT_EQ(enum_name(StopReason::not_yet), "interrupted");
  EXPECT_EQ(enum_name(StopReason::nobody_left), "nobody left");
  EXPECT_EQ(enum_name(Strategy::race), "race");
}

TEST(EnumNames, OthersAreErrors) {
  for (const char* const bad : {"", "Race", "races", "fastest"}) {
    fixtures::expect_error(
        [&] { (void)parse_enum<Strategy>(bad, ExitCode::usage, "--strategy", "one of two"); },
        ExitCode::usage, {"there is no strategy '", bad, "--strategy", "one of two"});
  }
}

}  // namespace
}  // namespace fatune
