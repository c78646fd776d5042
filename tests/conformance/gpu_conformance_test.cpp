// Compares the emulator with this machine's GPU, instruction by instruction. If the environment
// variable FATUNE_CONFORMANCE_RECORD names a file, the GPU's results are recorded there for
// conformance_test.cpp.
#include <cstdlib>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "conformance/emulated_kernels.hpp"
#include "conformance/kernel_text.hpp"
#include "conformance/operand_values.hpp"
#include "conformance/recording.hpp"
#include "conformance/results.hpp"
#include "gpu/context.hpp"
#include "gpu/driver.hpp"
#include "gpu/module.hpp"

namespace fatune::conformance {
namespace {

constexpr std::size_t kTuples = 8192;  ///< the number of threads of each case
constexpr int kOldestCompute = 90;     ///< the architecture that the kernels are compiled for

Recording& recording() {
  static Recording made;
  return made;
}

/// Writes the recording after all tests.
class Recorder : public ::testing::Environment {
 public:
  void TearDown() override {
    const char* const file = std::getenv("FATUNE_CONFORMANCE_RECORD");
    if (file != nullptr && !recording().results.empty()) {
      write_recording(file, recording());
    }
  }
};

const ::testing::Environment* const kRecorder =
    ::testing::AddGlobalTestEnvironment(std::make_unique<Recorder>().release());

std::vector<std::uint64_t> run_on_gpu(const gpu::Module& module, std::size_t index, const Case& one,
                                      const std::vector<std::uint64_t>& operands) {
  const gpu::Stream stream;
  const std::vector<std::uint8_t> input = input_bytes(operands);
  std::vector<std::uint8_t> output(kTuples * output_stride(one));
  const gpu::DeviceBuffer in(static_cast<std::int64_t>(input.size()));
  const gpu::DeviceBuffer out(static_cast<std::int64_t>(output.size()));
  gpu::copy_to_device_async(in.address(), input.data(), in.bytes(), stream);
  gpu::fill_words_async(out.address(), 0, out.bytes() / 4, stream);
  LaunchGeometry geometry;
  geometry.grid = {kTuples / kThreadsPerBlock, 1, 1};
  geometry.block = {kThreadsPerBlock, 1, 1};
  gpu::launch_with(module.function(kernel_name(index)), geometry, stream, in.address(),
                   out.address());
  gpu::copy_to_host_async(output.data(), out.address(), out.bytes(), stream);
  stream.synchronize();
  return results_of(one, output);
}

class GpuConformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const gpu::DriverStatus& driver = gpu::probe_driver(); !driver.usable()) {
      GTEST_SKIP() << "no GPU: " << driver.problem;
    }
    const gpu::Device device = gpu::describe_device(0);
    if (!device.usable() || device.limits.arch.sm < kOldestCompute) {
      GTEST_SKIP() << device.limits.name << " is not one that can run kernels for sm_90";
    }
    recording().device = fmt::format("{}, driver for CUDA {}", device.limits.name,
                                     gpu::probe_driver().version_text());
    context_.emplace(0);
  }

  static void record(const Case& one, const std::vector<std::uint64_t>& results) {
    recording().results[one.text] = {
        hash_of(operand_values(one, kRecordedTuples)),
        {results.begin(),
         results.begin() + static_cast<std::ptrdiff_t>(kRecordedTuples * one.results.size())}};
  }

 private:
  std::optional<gpu::Context> context_;
};

TEST_P(GpuConformance, EmulatorGivesWhatTheGpuGives) {
  const std::vector<Case> cases = cases_of(GetParam());
  const std::string text = kernels_text(cases);
  const gpu::Module module(std::span<const char>(text.c_str(), text.size() + 1));
  const EmulatedKernels emulated(cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    const std::vector<std::uint64_t> operands = operand_values(one, kTuples);
    const std::vector<std::uint64_t> expected = run_on_gpu(module, i, one, operands);
    record(one, expected);
    try {
      const Comparison compared =
          compare(one, operands, expected, emulated.run(i, operands, kTuples));
      if (compared.unequal > 0) {
        fmt::print("{}: {} of {} results differ, by {:.3g} at most, {} by too much\n", one.text,
                   compared.unequal, expected.size(), compared.worst_relative, compared.wrong);
      }
      for (const std::string& wrong : compared.texts) {
        ADD_FAILURE() << wrong;
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << one.text << "\n  " << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, GpuConformance, ::testing::ValuesIn(all_groups()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace fatune::conformance
