#include "model/workload.hpp"

#include <gtest/gtest.h>

#include "unit/base/temp_folder.hpp"
#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

using fixtures::expect_error;

constexpr const char* kPrefill =
    R"({"dtype":"BF16","batch":1,"seq_len":512,"heads":32,"d_head":128,"causal":true)";

class WorkloadFile : public testing::Test {
 protected:
  Workload read(const std::string& name, const std::string& text) {
    return read_workload(folder_.write(name, text));
  }
  void expect_refused(const std::string& name, const std::string& text,
                      const std::vector<std::string>& parts) {
    expect_error([&] { (void)read(name, text); }, ExitCode::bad_file, parts);
  }

  fixtures::TempFolder folder_;
};

TEST_F(WorkloadFile, HasALineForEachProblemWithItsCalls) {
  const Workload workload =
      read("w.jsonl", std::string(kPrefill) + ",\"kv_heads\":8,\"window\":null,\"calls\":3}\n\n" +
                          kPrefill + ",\"calls\":2,\"time_us\":40.5}\n");
  ASSERT_EQ(workload.size(), 2U);
  EXPECT_EQ(workload[0].problem.kv_heads, 8);
  EXPECT_EQ(workload[0].calls, 3.0);
  EXPECT_EQ(workload[0].time_us, std::nullopt);
  EXPECT_EQ(workload[1].problem.kv_heads, 32);
  EXPECT_EQ(total_us(workload[1]), 81.0);
}

TEST_F(WorkloadFile, AddsUpTheCallsOfAProblem) {
  const std::string slow = std::string(kPrefill) + ",\"calls\":3,\"time_us\":40}\n";
  const std::string quick = std::string(kPrefill) + ",\"calls\":1,\"time_us\":20}\n";
  const std::string untimed = std::string(kPrefill) + ",\"calls\":4}\n";
  // Times are averaged over the calls that have one, in whatever order.
  for (const std::string& lines : {slow + quick + untimed, slow + untimed + quick}) {
    const Workload workload = read("w.jsonl", lines);
    ASSERT_EQ(workload.size(), 1U);
    EXPECT_EQ(workload[0].calls, 8.0);
    EXPECT_EQ(workload[0].time_us, 35.0);
  }
}

TEST_F(WorkloadFile, MayHaveSharesOfTheTimeInPlaceOfCalls) {
  const Workload workload =
      read("w.jsonl", std::string(kPrefill) + ",\"time_percent\":80,\"time_us\":40}\n" + kPrefill +
                          ",\"kv_heads\":8,\"time_percent\":20,\"time_us\":10}\n");
  EXPECT_DOUBLE_EQ(*total_us(workload[0]) / *total_us(workload[1]), 4.0);
  EXPECT_DOUBLE_EQ(workload[0].calls, workload[1].calls);
}

TEST_F(WorkloadFile, OfCommaSeparatedValuesIsReadByItsHeadings) {
  const Workload workload =
      read("w.csv",
           "dtype,batch,seq_len,heads,d_head,causal,seq_len_kv,seq_lens_kv,calls\r\n"
           "FP16,2,1,16,64,false,100,\"100,7\",12\r\n"
           "FP16,2,1,16,64,false,100,,1\r\n");
  ASSERT_EQ(workload.size(), 2U);
  EXPECT_EQ(workload[0].problem.seq_lens_kv, "100,7");
  EXPECT_EQ(workload[1].problem.seq_lens_kv, "");
}

TEST_F(WorkloadFile, SaysWhichLineIsWrong) {
  const std::string good = std::string(kPrefill) + ",\"calls\":3}\n";
  expect_refused("w.jsonl", good + "{]\n", {"w.jsonl, line 2"});
  expect_refused("w.jsonl", good + kPrefill + ",\"calls\":0}", {"line 2", "greater than 0"});
  expect_refused("w.jsonl", std::string(kPrefill) + "}", {"line 1", "neither how often"});
  expect_refused("w.jsonl", std::string(kPrefill) + ",\"seqlen\":1,\"calls\":1}",
                 {"line 1", "/seqlen", "no such member"});
  expect_refused("w.jsonl", std::string(kPrefill) + ",\"kv_heads\":3,\"calls\":1}", {"line 1"});
  expect_refused("w.jsonl", "{\"calls\":1}\n", {"line 1"});
  expect_refused("w.csv", "calls,batch\n1\n", {"w.csv, row 2", "1 cells under 2 headings"});
  expect_refused("w.jsonl", "\n", {"no call in it"});
}

}  // namespace
}  // namespace fatune
