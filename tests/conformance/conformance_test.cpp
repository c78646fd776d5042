// Compares the emulator with recorded results of a GPU for the same instructions and operands.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "conformance/emulated_kernels.hpp"
#include "conformance/operand_values.hpp"
#include "conformance/recording.hpp"
#include "conformance/results.hpp"

namespace fatune::conformance {
namespace {

const Recording& recorded() {
  static const Recording recording = read_recording(FATUNE_CONFORMANCE_RECORDING);
  return recording;
}

class Conformance : public ::testing::TestWithParam<std::string> {
 protected:
  static void check(const EmulatedKernels& kernels, std::size_t index, const Case& one) {
    const auto known = recorded().results.find(one.text);
    if (known == recorded().results.end()) {
      ADD_FAILURE() << one.text << "\n  is not recorded";
      return;
    }
    const std::vector<std::uint64_t> operands = operand_values(one, kRecordedTuples);
    ASSERT_EQ(hash_of(operands), known->second.operands_hash)
        << one.text << "\n  was recorded with other operands";
    ASSERT_EQ(known->second.values.size(), kRecordedTuples * one.results.size()) << one.text;
    try {
      const std::vector<std::uint64_t> results = kernels.run(index, operands, kRecordedTuples);
      for (const std::string& text : compare(one, operands, known->second.values, results).texts) {
        ADD_FAILURE() << text;
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << one.text << "\n  " << error.what();
    }
  }
};

TEST_P(Conformance, EmulatorGivesWhatAGpuGave) {
  const std::vector<Case> cases = cases_of(GetParam());
  const EmulatedKernels kernels(cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    check(kernels, i, cases[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, Conformance, ::testing::ValuesIn(all_groups()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace fatune::conformance
