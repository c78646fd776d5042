// The whole chain: RemoteMeasurer, the real worker process, the fake driver and the fake NVML.
#include "measure/gpu_worker.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "measure/remote_measurer.hpp"
#include "unit/gpu/fake_driver.hpp"
#include "unit/measure/host_gpu.hpp"

namespace fatune {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

class GpuWorkerTest : public testing::Test {
 protected:
  RemoteMeasurer& open(const MeasurePolicy& policy = {}) {
    measurer_ = std::make_unique<RemoteMeasurer>(WorkerSettings{{FATUNE_GPU_WORKER_PROGRAM}, 0, {}},
                                                 policy);
    measurer_->begin_problem({2, 64, 4, 64, DType::fp16, false}, HostGpu::measurement_kernels());
    return *measurer_;
  }

  gpu::ScopedVariable nvml_{"FATUNE_LIBNVML", FATUNE_FAKE_NVML};
  gpu::ScopedVariable duration_{"FATUNE_FAKE_KERNEL_US", "250"};

 private:
  std::unique_ptr<RemoteMeasurer> measurer_;
};

TEST_F(GpuWorkerTest, MeasuresWithReadings) {
  RemoteMeasurer& measurer = open();
  const Admission admission = measurer.admit({1}, HostGpu::make_candidate());
  ASSERT_FALSE(admission.failure) << outcome_summary(*admission.failure);
  EXPECT_EQ(admission.first_us, 250.0);
  EXPECT_THAT(admission.verification.inputs, SizeIs(5));
  EXPECT_THAT(measurer.sample({1}, 3).samples_us, AllOf(SizeIs(3), Each(250.0)));
  std::optional<GpuReading> reading;
  for (int i = 0; i < 10'000 && !reading; ++i) {  // a thread takes readings
    reading = measurer.sample({1}, 1).readings.at(0);
  }
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->sm_mhz, 1980.0);
  EXPECT_EQ(reading->power_w, 350.0);
  EXPECT_EQ(reading->temperature_c, 45.0);
  EXPECT_FALSE(is_throttled(*reading));
  EXPECT_FALSE(measurer.recheck({1}));
}

TEST_F(GpuWorkerTest, GoesOnWithoutTheManagementLibrary) {
  const gpu::ScopedVariable nowhere("FATUNE_LIBNVML", "/nonexistent/libnvidia-ml.so.1");
  RemoteMeasurer& measurer = open();
  ASSERT_FALSE(measurer.admit({1}, HostGpu::make_candidate()).failure);
  const Samples samples = measurer.sample({1}, 2);
  EXPECT_THAT(samples.samples_us, SizeIs(2));
  ASSERT_THAT(samples.readings, SizeIs(2));
  EXPECT_FALSE(samples.readings[0] || samples.readings[1]);
}

TEST_F(GpuWorkerTest, ACandidateThatCrashesCostsOneWorker) {
  const gpu::ScopedVariable crash("FATUNE_FAKE_KERNEL_ERROR", "700@name:candidate");
  RemoteMeasurer& measurer = open();
  for (const int worker : {1, 2}) {
    const Admission admission =
        measurer.admit({static_cast<std::size_t>(worker)}, HostGpu::make_candidate());
    ASSERT_TRUE(admission.failure && std::holds_alternative<Crashed>(*admission.failure));
    EXPECT_THAT(outcome_summary(*admission.failure), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
    EXPECT_EQ(measurer.workers_started(), worker);
  }
}

TEST_F(GpuWorkerTest, DenseProductsHaveARateAndAClock) {
  RemoteMeasurer& measurer = open();
  EXPECT_NEAR(measurer.device_rates(HostGpu::matmul_kernel()).matmul.tflops, 856.0, 10.0);
  double sm_mhz = 0.0;
  for (int i = 0; i < 1000 && sm_mhz == 0.0; ++i) {  // a thread takes readings
    sm_mhz = measurer.device_rates(HostGpu::matmul_kernel()).matmul.sm_mhz;
  }
  EXPECT_EQ(sm_mhz, 1980.0);
  EXPECT_EQ(measurer.workers_started(), 1);
}

TEST_F(GpuWorkerTest, DenseProductsThatCrashCostOneWorker) {
  const gpu::ScopedVariable crash("FATUNE_FAKE_KERNEL_ERROR", "700@name:matmul");
  RemoteMeasurer& measurer = open();
  EXPECT_THROW(static_cast<void>(measurer.device_rates(HostGpu::matmul_kernel())), Error);
  EXPECT_FALSE(measurer.admit({1}, HostGpu::make_candidate()).failure);
  EXPECT_EQ(measurer.workers_started(), 2);
}

#ifdef FATUNE_NVTX_RECORDER

TEST_F(GpuWorkerTest, ProfilersSeeTheRangesOfTheProblem) {
  const std::string file = testing::TempDir() + "fatune_nvtx_ranges_" + std::to_string(::getpid());
  std::filesystem::remove(file);
  const gpu::ScopedVariable injection("NVTX_INJECTION64_PATH", FATUNE_NVTX_RECORDER);
  const gpu::ScopedVariable log("FATUNE_NVTX_LOG", file);
  CandidateKernel candidate = HostGpu::make_candidate();
  candidate.family = "toy";
  RemoteMeasurer& measurer = open();
  ASSERT_FALSE(measurer.admit({1}, candidate).failure);
  EXPECT_THAT(measurer.sample({1}, 1).samples_us, SizeIs(1));
  measurer.begin_problem({1, 64, 4, 64, DType::fp16, false}, HostGpu::measurement_kernels());
  const auto probe =
      std::vector<std::string>{"push attention_toy_B1_H4_N64_D64 " + candidate.label, "pop"};
  const auto run =
      std::vector<std::string>{"push attention_toy_B2_H4_N64_D64 " + candidate.label, "pop"};
  std::vector<std::string> expected{"start bench_toy_B2_H4_N64_D64"};
  for (const auto& range : {probe, probe, probe, probe, run, run}) {
    expected.insert(expected.end(), range.begin(), range.end());
  }
  expected.emplace_back("end bench_toy_B2_H4_N64_D64");
  EXPECT_EQ(lines_of(file), expected) << "four probes, the run that is verified, a sample";
}

#endif

TEST_F(GpuWorkerTest, ADriverWithoutGraphsIsAnErrorAtOnce) {
  const gpu::ScopedVariable old("FATUNE_LIBCUDA", FATUNE_FAKE_CUDA_OLD);
  MeasurePolicy policy;
  policy.cuda_graph = true;
  try {
    open(policy);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("does not support CUDA graphs"), HasSubstr("without graphs")));
  }
}

}  // namespace
}  // namespace fatune
