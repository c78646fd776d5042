#include "inspect/counters/profiler_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "unit/inspect/counters/recorded.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kHeader =
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n";

void expect_nsys_refused(const std::string& text, const std::string& part) {
  try {
    (void)read_nsys_summary(text, "t.nsys-rep");
    ADD_FAILURE() << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_file);
    EXPECT_THAT(error.what(), HasSubstr(part));
    EXPECT_THAT(error.what(), HasSubstr("t.nsys-rep"));
  }
}

TEST(NsysSummary, RecordedKernels) {
  const auto items = read_nsys_summary(recorded_nsys("cuda_gpu_kern_sum.csv"), "recorded");
  ASSERT_THAT(items, SizeIs(7));
  EXPECT_THAT(items[0].name, HasSubstr("FlashForwardKernelConfig{(int)5, (int)128, (int)128,"));
  EXPECT_EQ(items[0].instances, 6529);
  EXPECT_DOUBLE_EQ(items[0].total_us, 688407.125);
  EXPECT_DOUBLE_EQ(items[0].mean_us, 105.4384);
  EXPECT_DOUBLE_EQ(items[0].median_us, 104.479);
  EXPECT_DOUBLE_EQ(items[0].least_us, 15.648);
  EXPECT_DOUBLE_EQ(items[0].greatest_us, 127.519);
  EXPECT_EQ(items[1].name, "fatune_reference_attention");
}

TEST(NsysSummary, RecordedRanges) {
  const auto items = read_nsys_summary(recorded_nsys("nvtx_sum.csv"), "recorded");
  ASSERT_THAT(items, SizeIs(3));
  EXPECT_EQ(items[0].name, "bench_flash_sm80_B16_H16_N512_D128");
  EXPECT_EQ(items[1].name, "attention_flash_sm80_B16_H16_N512_D128");
  EXPECT_EQ(items[1].instances, 6527);
}

TEST(NsysSummary, AReportWithoutDataHasNoTable) {
  EXPECT_THAT(read_nsys_summary("", "x"), IsEmpty());
  EXPECT_THAT(read_nsys_summary("SKIPPED: t.sqlite does not contain CUDA kernel data.\n", "x"),
              IsEmpty());
  EXPECT_THAT(read_nsys_summary(kHeader, "x"), IsEmpty());
}

TEST(NsysSummary, OlderVersionsNameColumnsOtherwise) {
  const auto items = read_nsys_summary(
      "Time(%),Total Time (ns),Instances,Average (ns),Minimum (ns),Maximum (ns),Median (ns),Name\n"
      "100.0,\"1,000\",1,1000.0,1000,1000,1000,k\n",
      "x");
  ASSERT_THAT(items, SizeIs(1));
  EXPECT_EQ(items[0].total_us, 1.0);
}

TEST(NsysSummary, DamagedTablesAreRefused) {
  expect_nsys_refused(std::string(kHeader) + "99.8,1,2\n", "3 cells under 9 headings");
  expect_nsys_refused(std::string(kHeader) + "1,x,2,3,4,5,6,7,k\n",
                      "'x' in column 'Total Time (ns)'");
  expect_nsys_refused(std::string(kHeader) + "1,1,nan,3,4,5,6,7,k\n", "is not a number");
  expect_nsys_refused("Total Time (ns),Instances,Name\n1,2,k\n", "no column 'Avg (ns)'");
  expect_nsys_refused("Total Time (ns),Instances\n1,2\n", "no column 'Name'");
  const std::string whole = recorded_nsys("cuda_gpu_kern_sum.csv");
  expect_nsys_refused(whole.substr(0, whole.rfind(',')), "8 cells under 9 headings");
}

}  // namespace
}  // namespace fatune
