#include "core/estimate_source.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace fatune {
namespace {

TEST(EstimateSource, IsReadBackByItsName) {
  for (int i = 0; i <= static_cast<int>(EstimateSource::calibration); ++i) {
    const auto source = static_cast<EstimateSource>(i);
    EXPECT_EQ(parse_estimate_source(estimate_source_name(source)), source);
  }
  EXPECT_EQ(estimate_source_name(EstimateSource::calibration), "calibration");
}

TEST(EstimateSource, RefusesOtherNames) {
  EXPECT_THROW((void)parse_estimate_source("hearsay"), Error);
}

}  // namespace
}  // namespace fatune
