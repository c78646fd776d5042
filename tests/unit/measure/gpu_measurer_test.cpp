// The whole measurement on a fake driver. Measurement kernels run on the host (host_gpu.hpp), and
// candidates are right or wrong in the ways that must be told apart.
#include "measure/gpu_measurer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "measure/memory_plan.hpp"
#include "measure/verification.hpp"
#include "model/cpu_reference.hpp"
#include "model/problem.hpp"
#include "unit/gpu/fake_driver.hpp"
#include "unit/measure/host_gpu.hpp"
#include "unit/measure/measure_alone.hpp"

namespace fatune {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const Problem kMeasuredProblem = kHostProblem;
constexpr int kWarmup = 3;
constexpr int kRepeats = 8;
constexpr int kInputs = 5;
constexpr int kProbes = 4;
constexpr int kTimed = 1 + kWarmup + kRepeats;  // includes the verified run

MeasurePolicy small_policy() {
  MeasurePolicy policy;
  policy.warmup = kWarmup;
  policy.repeats = kRepeats;
  policy.seed = 42;
  return policy;
}

class GpuMeasurerTest : public gpu::FakeDriverTest {
 protected:
  void SetUp() override {
    FakeDriverTest::SetUp();
    gpu_.attach();
  }

  Outcome measure(const Problem& problem = kMeasuredProblem) {
    return measure_all(problem, 1).front();
  }

  std::vector<Outcome> measure_all(const Problem& problem, int times) {
    const gpu::Context context(0);
    GpuMeasurer measurer(context, HostGpu::limits(), policy_);
    measurer.begin_problem(problem, HostGpu::measurement_kernels());
    gpu_.launched.clear();
    std::vector<Outcome> outcomes;
    for (int i = 0; i < times; ++i) {
      outcomes.push_back(measure_alone(measurer, candidate_for(problem)));
      context_lost_ = measurer.context_lost();
    }
    return outcomes;
  }

  void expect_wrong(const std::string& finding) {
    const Outcome outcome = measure();
    const auto* wrong = std::get_if<WrongResult>(&outcome);
    ASSERT_NE(wrong, nullptr) << outcome_name(outcome) << ": " << outcome_summary(outcome);
    EXPECT_THAT(wrong->finding, HasSubstr(finding));
    EXPECT_EQ(gpu_.count("candidate"), kProbes) << "run on the probe problem, and no further";
  }

  // Makes the candidate compute attention and then apply `how` to its output.
  void spoil(std::function<void(std::uint16_t* output)> how) {
    gpu_.candidate = [this, how = std::move(how)](const AttentionForwardArgs& args) {
      gpu_.compute_attention(args);
      how(static_cast<std::uint16_t*>(args.o));
    };
  }

  /// The candidate with the arguments for this problem.
  [[nodiscard]] CandidateKernel candidate_for(const Problem& problem) const {
    CandidateKernel candidate = candidate_;
    const CandidateKernel like = HostGpu::make_candidate(problem);
    candidate.geometry.arguments = like.geometry.arguments;
    candidate.probe_geometry.arguments = like.probe_geometry.arguments;
    return candidate;
  }

  MeasurePolicy policy_ = small_policy();
  HostGpu gpu_{host_kernels_fp16_d64(), kMeasuredProblem};
  CandidateKernel candidate_ = HostGpu::make_candidate();
  bool context_lost_ = false;
};

TEST_F(GpuMeasurerTest, ARightCandidateIsVerifiedThenTimed) {
  const gpu::ScopedVariable duration("FATUNE_FAKE_KERNEL_US", "250");
  const Outcome outcome = measure();
  const auto* measured = std::get_if<Measured>(&outcome);
  ASSERT_NE(measured, nullptr) << outcome_name(outcome) << ": " << outcome_summary(outcome);
  EXPECT_THAT(measured->timing.samples_us, AllOf(SizeIs(kRepeats), Each(250.0)))
      << "the gate's launch lies outside the events";
  EXPECT_EQ(measured->timing.median_us, 250.0);
  EXPECT_EQ(measured->timing.stopped_because, "fixed count");
  EXPECT_EQ(gpu_.count("candidate"), kProbes + kTimed);
  EXPECT_EQ(gpu_.count("fatune_device_gate"), kTimed);
  EXPECT_FALSE(context_lost_);
}

TEST_F(GpuMeasurerTest, AWorkspaceThatFitsNoMemoryIsALimit) {
  candidate_.geometry.arguments.buffers = {{"huge", std::int64_t{1} << 40, 0, "never", ""}};
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  const Outcome outcome = measure_alone(measurer, candidate_);
  EXPECT_EQ(outcome_name(outcome), "unlaunchable");
  EXPECT_THAT(outcome_summary(outcome), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
}

TEST_F(GpuMeasurerTest, TheRunThatIsVerifiedIsASample) {
  const gpu::ScopedVariable duration("FATUNE_FAKE_KERNEL_US", "250");
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  const Admission admission = measurer.admit({1}, candidate_);
  EXPECT_FALSE(admission.failure);
  EXPECT_EQ(admission.first_us, 250.0);
  EXPECT_EQ(gpu_.count("fatune_device_gate"), 1) << "on the problem itself alone";
  const Samples samples = measurer.sample({1}, 3);
  EXPECT_THAT(samples.samples_us, AllOf(SizeIs(3), Each(250.0)));
  EXPECT_THAT(samples.readings, SizeIs(3));
}

TEST_F(GpuMeasurerTest, ReadingsOfTheGpuGoWithTheSamples) {
  GpuMonitor monitor(
      [] {
        return std::optional(GpuReading{1755, 612, 71, 0x24});
      },
      std::chrono::milliseconds(1));
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_, &monitor);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  ASSERT_FALSE(measurer.admit({1}, candidate_).failure);  // takes long enough for many readings
  const Samples samples = measurer.sample({1}, 2);
  ASSERT_THAT(samples.readings, SizeIs(2));
  ASSERT_TRUE(samples.readings[0] && samples.readings[1]);
  EXPECT_EQ(samples.readings[0]->sm_mhz, 1755.0);
  EXPECT_EQ(samples.readings[1]->clock_limits, 0x24U);
}

TEST_F(GpuMeasurerTest, RowsAreCountedWhenAskedFor) {
  const gpu::Context context(0);
  for (const bool asked : {false, true}) {
    spoil([](std::uint16_t* output) {
      const std::size_t row_5_head_1 = (5 * 2 + 1) * 64;
      output[row_5_head_1 + 3] = 0x4900;   // 10
      output[row_5_head_1 + 63] = 0x7e00;  // NaN
    });
    GpuMeasurer measurer(context, HostGpu::limits(), policy_, nullptr, asked);
    measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
    const Admission admission = measurer.admit({1}, candidate_);
    const auto& wrong = std::get<WrongResult>(admission.failure.value());
    if (!asked) {
      EXPECT_THAT(wrong.verification.rows, SizeIs(0));
      continue;
    }
    ASSERT_THAT(wrong.verification.rows, SizeIs(kProbes));
    const RowMismatches& rows = wrong.verification.rows[0];
    EXPECT_EQ(rows.input, wrong.verification.inputs[0].input);
    EXPECT_EQ(rows.rows_per_head, 20);
    ASSERT_THAT(rows.row, SizeIs(40));
    const std::size_t culprit = 20 + 5;
    EXPECT_EQ(rows.row[culprit], 5);
    EXPECT_EQ(rows.beyond_limit[culprit], 2);
    EXPECT_EQ(std::count(rows.beyond_limit.begin(), rows.beyond_limit.end(), 0), 39);
  }
}

// Adversarial inputs have the size of the probe problem. Only normal ones are as large as the
// problem.
TEST_F(GpuMeasurerTest, AdversarialInputsAreOfTheProbeProblem) {
  const Problem large{2, 20, 3, 64, DType::fp16, false};
  std::vector<std::pair<int, int>> batches_and_heads;
  gpu_.candidate = [&](const AttentionForwardArgs& args) {
    batches_and_heads.emplace_back(args.batch, args.heads);
    gpu_.compute_attention(args);
  };
  candidate_.geometry.grid = {7, 3, 2};
  candidate_.probe_geometry.grid = {7, 3, 1};
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  measurer.begin_problem(large, HostGpu::measurement_kernels());
  const Admission admission = measurer.admit({1}, candidate_for(large));
  ASSERT_FALSE(admission.failure) << outcome_summary(*admission.failure);
  EXPECT_THAT(batches_and_heads, ElementsAre(std::pair(1, 3), std::pair(1, 3), std::pair(1, 3),
                                             std::pair(1, 3), std::pair(2, 3)));
  EXPECT_THAT(gpu_.candidate_grids,
              ElementsAre(std::array{7U, 3U, 1U}, std::array{7U, 3U, 1U}, std::array{7U, 3U, 1U},
                          std::array{7U, 3U, 1U}, std::array{7U, 3U, 2U}));
  EXPECT_EQ(admission.verification.method,
            "gpu references, all rows; other inputs than normal on batch 1, heads 3: all rows");
  ASSERT_THAT(admission.verification.inputs, SizeIs(kInputs));
  EXPECT_EQ(admission.verification.inputs[0].elements, 2 * 20 * 3 * 64);
  EXPECT_EQ(admission.verification.inputs[1].elements, 20 * 3 * 64);
  EXPECT_EQ(admission.verification.inputs[2].elements, 20 * 3 * 64);
}

TEST_F(GpuMeasurerTest, AFaultBeyondTheProbeProblemIsFoundOnTheProblemItself) {
  const Problem large{2, 20, 3, 64, DType::fp16, false};
  gpu_.candidate = [this](const AttentionForwardArgs& args) {
    gpu_.compute_attention(args);
    if (args.batch == 2) {
      static_cast<std::uint16_t*>(args.o)[20 * 3 * 64 + 5] = 0x7c00;
    }
  };
  const Outcome outcome = measure(large);
  ASSERT_TRUE(std::holds_alternative<WrongResult>(outcome)) << outcome_summary(outcome);
  EXPECT_THAT(outcome_summary(outcome), HasSubstr("input normal: 1 output values"));
  EXPECT_THAT(std::get<WrongResult>(outcome).verification.inputs, SizeIs(kInputs));
}

TEST_F(GpuMeasurerTest, VerificationSaysWhatWasCompared) {
  const Outcome outcome = measure();
  const Verification& verification = std::get<Measured>(outcome).verification;
  EXPECT_EQ(verification.method, "gpu references, all rows");
  EXPECT_EQ(verification.seed, 42U);
  ASSERT_THAT(verification.inputs, SizeIs(kInputs));
  EXPECT_EQ(verification.inputs[0].input, "normal");
  EXPECT_EQ(verification.inputs[1].input, "large_logits");
  EXPECT_EQ(verification.inputs[2].input, "dominating_key");
  EXPECT_EQ(verification.inputs[3].input, "extreme_scores");
  EXPECT_EQ(verification.inputs[4].input, "large_values");
  for (const ErrorStats& stats : verification.inputs) {
    EXPECT_EQ(stats.elements, tensor_elements(kMeasuredProblem, TensorRole::o)) << stats.input;
    EXPECT_GT(stats.max_abs_error, 0.0) << stats.input;
    EXPECT_GE(stats.limit, 2 * stats.max_abs_reference_error) << stats.input;
    EXPECT_LE(stats.max_abs_error, stats.limit) << stats.input;
  }
}

TEST_F(GpuMeasurerTest, EverySampleStartsWithTheGateAndEndsWithAFingerprint) {
  static_cast<void>(measure());
  const std::vector<std::string>& launched = gpu_.launched;
  int samples = 0;
  for (std::size_t i = 0; i + 3 < launched.size(); ++i) {
    if (launched[i] == "fatune_device_gate") {
      EXPECT_EQ(launched[i + 1], "candidate");
      EXPECT_EQ(launched[i + 2], "fatune_clock_span");
      EXPECT_EQ(launched[i + 3], "fatune_sum_inputs");
      ++samples;
    }
  }
  EXPECT_EQ(samples, kTimed);
}

TEST_F(GpuMeasurerTest, WithoutGateNoneIsLaunched) {
  policy_.device_gate = false;
  EXPECT_TRUE(std::holds_alternative<Measured>(measure()));
  EXPECT_EQ(gpu_.count("fatune_device_gate"), 0);
  EXPECT_EQ(gpu_.count("fatune_clock_span"), 0) << "the gate marks its beginning";
}

TEST_F(GpuMeasurerTest, TheMeanClockOfALongSampleGoesWithIt) {
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  gpu_.clock_span = {3'000'000, 2'000'000};
  EXPECT_EQ(measurer.admit({0}, candidate_).reading.value_or(GpuReading{}).sm_mhz, 1500.0);
  ASSERT_THAT(measurer.sample({0}, 1).readings, SizeIs(1));
  EXPECT_EQ(measurer.sample({0}, 1).readings[0].value_or(GpuReading{}).sm_mhz, 1500.0);
  gpu_.clock_span = {750'000, 499'000};
  EXPECT_FALSE(measurer.sample({0}, 1).readings[0]) << "too short, and nobody else knows";
  gpu_.clock_span = {};
  EXPECT_FALSE(measurer.sample({0}, 1).readings[0]);
}

// One SM at 1 MHz does 4.1 GFLOP/s: the problem's 0.2 MFLOP take 50 us.
TEST_F(GpuMeasurerTest, ASampleFasterThanTheDeviceIsImplausible) {
  const gpu::Context context(0);
  DeviceLimits limits = HostGpu::limits();
  limits.sm_count = 1;
  limits.clock_khz = 1000;
  GpuMeasurer measurer(context, limits, policy_);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  {
    const gpu::ScopedVariable fast("FATUNE_FAKE_KERNEL_US", "49");
    const Admission admission = measurer.admit({1}, candidate_);
    ASSERT_TRUE(admission.failure);
    EXPECT_THAT(outcome_summary(*admission.failure), HasSubstr("the problem takes at least 50 us"));
  }
  {
    const gpu::ScopedVariable plausible("FATUNE_FAKE_KERNEL_US", "51");
    ASSERT_FALSE(measurer.admit({1}, candidate_).failure);
    EXPECT_FALSE(measurer.sample({1}, 1).failure);
  }
  const gpu::ScopedVariable fast_again("FATUNE_FAKE_KERNEL_US", "10");
  const Samples samples = measurer.sample({1}, 2);
  ASSERT_TRUE(samples.failure);
  EXPECT_TRUE(std::holds_alternative<Implausible>(*samples.failure));
  EXPECT_THAT(samples.samples_us, SizeIs(0));
}

// Nothing that the kernel reads, and nothing that must be written back, is in the L2.
TEST_F(GpuMeasurerTest, ReadsOfOtherMemoryPrecedeAColdSample) {
  const Outcome outcome = measure();
  ASSERT_TRUE(std::holds_alternative<Measured>(outcome)) << outcome_summary(outcome);
  const auto gate = std::find(gpu_.launched.begin(), gpu_.launched.end(), "fatune_device_gate");
  ASSERT_NE(gate, gpu_.launched.end());
  EXPECT_EQ(*(gate - 1), "fatune_read_memory");
  EXPECT_EQ(*(gate + 1), "candidate");
  EXPECT_EQ(gpu_.count("fatune_read_memory"), gpu_.count("fatune_device_gate"));
}

// A warm sample must not find another candidate's tensors in the L2.
TEST_F(GpuMeasurerTest, AWarmSampleFollowsAnUntimedRun) {
  const gpu::ScopedVariable duration("FATUNE_FAKE_KERNEL_US", "250");
  policy_.flush_l2 = false;
  const Outcome outcome = measure();
  EXPECT_THAT(std::get<Measured>(outcome).timing.samples_us, AllOf(SizeIs(kRepeats), Each(250.0)));
  EXPECT_EQ(gpu_.count("candidate"), kProbes + 2 * kTimed);
  const auto gate = std::find(gpu_.launched.begin(), gpu_.launched.end(), "fatune_device_gate");
  ASSERT_NE(gate, gpu_.launched.end());
  EXPECT_EQ(*(gate - 1), "candidate");
  EXPECT_EQ(*(gate + 1), "candidate");
  EXPECT_EQ(gpu_.count("fatune_read_memory"), 0);
}

TEST_F(GpuMeasurerTest, AsAGraphTheSameIsLaunchedAndVerified) {
  const gpu::ScopedVariable duration("FATUNE_FAKE_KERNEL_US", "250");
  policy_.cuda_graph = true;
  const Outcome outcome = measure();
  ASSERT_TRUE(std::holds_alternative<Measured>(outcome)) << outcome_summary(outcome);
  EXPECT_THAT(std::get<Measured>(outcome).timing.samples_us, AllOf(SizeIs(kRepeats), Each(250.0)));
  EXPECT_EQ(gpu_.count("candidate"), kProbes + kTimed);
  spoil([](std::uint16_t* output) { output[777] = round_to_element(0.9, DType::fp16); });
  gpu_.launched.clear();
  expect_wrong("greatest error");
}

TEST_F(GpuMeasurerTest, AGraphThatTheDriverRefusesIsUnlaunchable) {
  policy_.cuda_graph = true;
  const gpu::ScopedVariable refuse("FATUNE_FAKE_FAIL", "cuGraphInstantiateWithFlags=701");
  const Outcome outcome = measure();
  ASSERT_TRUE(std::holds_alternative<Unlaunchable>(outcome)) << outcome_name(outcome);
  EXPECT_THAT(outcome_summary(outcome), HasSubstr("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"));
}

TEST_F(GpuMeasurerTest, AGateThatExpiredOnceCostsOneRetake) {
  int gates = 0;
  gpu_.gate = [&gates](const GateArgs& args) {
    if (++gates == kWarmup + 2) {
      *args.expired = args.ticket;
    }
  };
  const Outcome outcome = measure();
  EXPECT_EQ(std::get<Measured>(outcome).timing.stopped_because, "fixed count");
  EXPECT_THAT(std::get<Measured>(outcome).timing.samples_us, SizeIs(kRepeats));
  EXPECT_EQ(gpu_.count("fatune_device_gate"), kTimed + 1);
}

TEST_F(GpuMeasurerTest, AGateThatKeepsExpiringIsGivenUpAndTheResultSaysSo) {
  gpu_.gate = [](const GateArgs& args) { *args.expired = args.ticket; };
  const Outcome outcome = measure();
  EXPECT_THAT(std::get<Measured>(outcome).timing.stopped_because, HasSubstr("gate given up"));
  EXPECT_EQ(gpu_.count("fatune_device_gate"), 3);
}

TEST_F(GpuMeasurerTest, AWrongValueIsAWrongResult) {
  spoil([](std::uint16_t* output) { output[777] = round_to_element(0.9, DType::fp16); });
  expect_wrong("greatest error");
}

TEST_F(GpuMeasurerTest, AnUnwrittenRowIsAWrongResult) {
  gpu_.candidate = [this](const AttentionForwardArgs& args) {
    auto* output = static_cast<std::uint16_t*>(args.o);
    const std::vector<std::uint16_t> before(output + 640, output + 704);
    gpu_.compute_attention(args);
    std::copy(before.begin(), before.end(), output + 640);
  };
  expect_wrong("64 output values are NaN, infinite or were never written");
}

TEST_F(GpuMeasurerTest, NothingWrittenAtAllIsAWrongResult) {
  gpu_.candidate = [](const AttentionForwardArgs&) {};
  expect_wrong("2560 output values");
}

TEST_F(GpuMeasurerTest, AWriteBehindTheOutputIsAWrongResult) {
  spoil(
      [](std::uint16_t* output) { output[tensor_elements(kMeasuredProblem, TensorRole::o)] = 0; });
  expect_wrong("wrote 2 bytes outside");
}

TEST_F(GpuMeasurerTest, AWriteBeforeTheOutputIsAWrongResult) {
  spoil([](std::uint16_t* output) { output[-1] = 0; });
  expect_wrong("wrote 2 bytes outside");
}

TEST_F(GpuMeasurerTest, AWriteOverTheInputsIsAWrongResult) {
  gpu_.candidate = [this](const AttentionForwardArgs& args) {
    std::fill_n(static_cast<std::uint16_t*>(const_cast<void*>(args.q)), 64, std::uint16_t{0});
    gpu_.compute_attention(args);
  };
  expect_wrong("input large_logits: wrote into its inputs");
}

TEST_F(GpuMeasurerTest, AWriteOverTheLengthsOfKeysChangesTheInputs) {
  const gpu::Context context(0);
  const gpu::Stream stream;
  const MeasurementModule kernels(HostGpu::measurement_kernels());
  Problem problem = kMeasuredProblem;
  problem.batch = 3;
  problem.seq_lens_kv = "1,0,7";
  const Stage stage(problem, InputKind::normal, 1, kernels, stream);
  const gpu::DeviceBuffer counts(sizeof(CheckCounts));
  const auto inputs_changed = [&] {
    CheckCounts found;
    gpu::fill_words_async(counts.address(), 0, sizeof found / 4, stream);
    stage.queue_check(counts.as<CheckCounts>());
    gpu::copy_to_host_async(&found, counts.address(), sizeof found, stream);
    stream.synchronize();
    return stage.inputs_changed(found);
  };
  EXPECT_FALSE(inputs_changed());
  int* const lengths = reinterpret_cast<int*>(stage.find({}, "seq_lens_kv").value());
  EXPECT_EQ(lengths[2], 7);
  lengths[2] = 6;
  EXPECT_TRUE(inputs_changed());
  stage.restore();
  stream.synchronize();
  EXPECT_FALSE(inputs_changed());
}

// A kernel without the running maximum is wrong on large logits alone, where exp overflows.
TEST_F(GpuMeasurerTest, AKernelThatFailsOnOneInputOnlyIsAWrongResult) {
  int launches = 0;
  gpu_.candidate = [this, &launches](const AttentionForwardArgs& args) {
    gpu_.compute_attention(args);
    if (++launches == 1) {
      static_cast<std::uint16_t*>(args.o)[5] = 0x7c00;
    }
  };
  expect_wrong("input large_logits: 1 output values");
}

TEST_F(GpuMeasurerTest, ARunThatGoesWrongDuringTimingIsFound) {
  int launches = 0;
  gpu_.candidate = [this, &launches](const AttentionForwardArgs& args) {
    gpu_.compute_attention(args);
    if (++launches == kProbes + kTimed) {
      static_cast<std::uint16_t*>(args.o)[5] = round_to_element(3.0, DType::fp16);
    }
  };
  const Outcome outcome = measure();
  ASSERT_TRUE(std::holds_alternative<WrongResult>(outcome)) << outcome_name(outcome);
  EXPECT_THAT(outcome_summary(outcome),
              HasSubstr("sample 11: its output differs from the verified one of the same inputs: "
                        "input normal: greatest error"));
}

// The output tensor still holds the right answer of the sample before.
TEST_F(GpuMeasurerTest, ASampleThatDoesNothingIsAWrongResult) {
  int launches = 0;
  gpu_.candidate = [this, &launches](const AttentionForwardArgs& args) {
    if (++launches <= kProbes + 5) {
      gpu_.compute_attention(args);
    }
  };
  EXPECT_THAT(outcome_summary(measure()),
              HasSubstr("sample 5: its output differs from the verified one of the same inputs: "
                        "input normal: 2560 output values are NaN, infinite or were never"));
}

// A race may drop a candidate after its first sample. By then it has been launched often.
TEST_F(GpuMeasurerTest, OneThatStopsComputingIsNotAdmitted) {
  int launches = 0;
  gpu_.candidate = [this, &launches](const AttentionForwardArgs& args) {
    if (++launches <= kProbes + 9) {
      gpu_.compute_attention(args);
    }
  };
  candidate_.is_repeated = true;
  EXPECT_THAT(
      outcome_summary(measure()),
      AllOf(HasSubstr("the last of 16 launches in a row: input "), HasSubstr("never written")));
}

TEST_F(GpuMeasurerTest, OneThatIsWrongInEveryOtherLaunchIsNotAdmitted) {
  int launches = 0;
  gpu_.candidate = [this, &launches](const AttentionForwardArgs& args) {
    gpu_.compute_attention(args);
    if (++launches > kProbes + 1 && launches % 2 == 0) {
      *static_cast<std::uint16_t*>(args.o) = 0x4500;
    }
  };
  candidate_.is_repeated = true;
  EXPECT_THAT(outcome_summary(measure()), HasSubstr("of 16 launches in a row: input "));
}

TEST_F(GpuMeasurerTest, ARightOneIsLaunchedManyTimesAndAdmitted) {
  int launches = 0;
  gpu_.candidate = [this, &launches](const AttentionForwardArgs& args) {
    ++launches;
    gpu_.compute_attention(args);
  };
  candidate_.is_repeated = true;
  EXPECT_TRUE(is_ranked(measure()));
  EXPECT_GE(launches, RepeatedLaunches::kLaunches + 1);
}

TEST_F(GpuMeasurerTest, SamplesTakeTurnsOnSetsOfInputs) {
  std::vector<const void*> queries;
  gpu_.candidate = [this, &queries](const AttentionForwardArgs& args) {
    queries.push_back(args.q);
    gpu_.compute_attention(args);
  };
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  ASSERT_FALSE(measurer.admit({1}, candidate_).failure);
  const void* const first = queries.back();
  queries.clear();
  EXPECT_FALSE(measurer.sample({1}, 4).failure);
  EXPECT_FALSE(measurer.sample({1}, {1, 7}).failure);
  ASSERT_THAT(queries, SizeIs(5));
  EXPECT_EQ(queries[0], first);
  EXPECT_EQ(queries[3], first);
  EXPECT_EQ(queries[4], queries[1]);
  EXPECT_EQ((std::set<const void*>(queries.begin(), queries.end()).size()), 3U);
}

TEST_F(GpuMeasurerTest, TheAnswerToOtherInputsIsAWrongResult) {
  std::vector<std::uint16_t> answer;
  int launches = 0;
  gpu_.candidate = [&](const AttentionForwardArgs& args) {
    auto* const output = static_cast<std::uint16_t*>(args.o);
    if (++launches <= kProbes + 1) {
      gpu_.compute_attention(args);
      answer.assign(output, output + tensor_elements(kMeasuredProblem, TensorRole::o));
    }
    std::copy(answer.begin(), answer.end(), output);
  };
  EXPECT_THAT(outcome_summary(measure()),
              HasSubstr("sample 2, its first on these inputs: input normal: greatest error"));
}

TEST_F(GpuMeasurerTest, AnOutputIsCheckedOnceForEachSetOfInputs) {
  EXPECT_TRUE(std::holds_alternative<Measured>(measure()));
  const long at_the_end = kInputSets;
  EXPECT_EQ(gpu_.count("fatune_compare_output"), kProbes + kInputSets + at_the_end);
}

TEST_F(GpuMeasurerTest, RightOutputsThatDifferAreCheckedEachTime) {
  int launches = 0;
  spoil([&launches](std::uint16_t* output) {
    output[9] = static_cast<std::uint16_t>(output[9] ^ ++launches % 2);
  });
  const Outcome outcome = measure();
  ASSERT_TRUE(std::holds_alternative<Measured>(outcome)) << outcome_summary(outcome);
  EXPECT_FALSE(std::get<Measured>(outcome).verification.deterministic);
  EXPECT_GT(gpu_.count("fatune_compare_output"), kProbes + kInputSets + 1);
  gpu_.candidate = [this](const AttentionForwardArgs& args) { gpu_.compute_attention(args); };
  EXPECT_TRUE(std::get<Measured>(measure()).verification.deterministic);
}

// The candidate takes 200 us on inputs that it has not seen and 20 us on others. The admission is
// followed by samples on the input sets 1, 2, 3, 1 and 2. Then inputs are made afresh.
class Remembering : public GpuMeasurerTest {
 protected:
  // `times_us` are the times of the first runs. All later runs take 20 us.
  Samples sample_with(std::vector<const char*> times_us, int count) {
    std::size_t run = 0;
    gpu_.gate = [&](const GateArgs&) {
      ::setenv("FATUNE_FAKE_KERNEL_US", run < times_us.size() ? times_us[run] : "20", 1);
      ++run;
    };
    const gpu::ScopedVariable duration("FATUNE_FAKE_KERNEL_US", "20");
    const gpu::Context context(0);
    GpuMeasurer measurer(context, HostGpu::limits(), policy_);
    measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
    EXPECT_FALSE(measurer.admit({1}, candidate_).failure);
    return measurer.sample({1}, count);
  }
};

TEST_F(Remembering, AKernelThatIsSlowOnNewInputsAloneIsImplausible) {
  const Samples samples =
      sample_with({"200", "20", "200", "200", "20", "20", "200", "20", "200", "20"}, 8);
  ASSERT_TRUE(samples.failure);
  ASSERT_TRUE(std::holds_alternative<Implausible>(*samples.failure));
  EXPECT_EQ(outcome_summary(*samples.failure),
            "20 us cannot be believed: it takes 200 us on inputs that it has not seen: it "
            "remembers its answers");
}

TEST_F(Remembering, OneThatWasSlowAtFirstIsBelieved) {
  const Samples samples = sample_with({"200", "20", "200", "200"}, 12);
  EXPECT_FALSE(samples.failure) << outcome_summary(*samples.failure);
  EXPECT_THAT(samples.samples_us, SizeIs(12));
  EXPECT_TRUE(samples.deterministic) << "the inputs are the old ones again";
}

TEST_F(GpuMeasurerTest, OneCandidatesDamageDoesNotReachTheNext) {
  bool first = true;
  spoil([&first](std::uint16_t* output) {
    if (first) {
      output[-1] = 0;
      output[3] = 0x7c00;
    }
  });
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  EXPECT_TRUE(std::holds_alternative<WrongResult>(measure_alone(measurer, candidate_)));
  first = false;
  const Outcome second = measure_alone(measurer, candidate_);
  EXPECT_TRUE(std::holds_alternative<Measured>(second)) << outcome_summary(second);
}

// A sample changes only the last element of V, after it has written the right output, so the result
// alone does not show it.
TEST_F(GpuMeasurerTest, DamageByASampleIsNotHeldAgainstTheNextCandidate) {
  int launches = 0;
  gpu_.candidate = [this, &launches](const AttentionForwardArgs& args) {
    gpu_.compute_attention(args);
    if (++launches == kProbes + 2) {  // the first sample after the admission
      auto* v = static_cast<std::uint16_t*>(const_cast<void*>(args.v));
      v[tensor_elements(kMeasuredProblem, TensorRole::o) - 1] ^= 1U;
    }
  };
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  ASSERT_FALSE(measurer.admit({1}, candidate_).failure);
  EXPECT_FALSE(measurer.sample({1}, 1).failure);
  const Admission next = measurer.admit({2}, candidate_);
  EXPECT_FALSE(next.failure) << outcome_summary(*next.failure);
  EXPECT_FALSE(measurer.recheck({1})) << "it is right again on inputs that are made anew";
}

TEST_F(GpuMeasurerTest, NorAgainstTheNextSampleOfAnother) {
  bool stray = false;
  gpu_.candidate = [this, &stray](const AttentionForwardArgs& args) {
    gpu_.compute_attention(args);
    if (std::exchange(stray, false)) {
      static_cast<std::uint16_t*>(const_cast<void*>(args.k))[7] ^= 0x4000U;
    }
  };
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  ASSERT_FALSE(measurer.admit({1}, candidate_).failure);
  ASSERT_FALSE(measurer.admit({2}, candidate_).failure);
  stray = true;
  EXPECT_FALSE(measurer.sample({1}, 1).failure);
  EXPECT_FALSE(measurer.sample({2}, 1).failure)
      << "wrong on inputs that the other spoilt, right on new ones";
  EXPECT_FALSE(measurer.recheck({2}));
  stray = true;
  EXPECT_FALSE(measurer.sample({1}, 1).failure);
  EXPECT_TRUE(measurer.recheck({1})) << "nobody else ran";
}

TEST_F(GpuMeasurerTest, DamageThatAnothersCheckHasMendedIsFoundWhenItIsDoneAgain) {
  bool strays = false;
  gpu_.candidate = [this, &strays](const AttentionForwardArgs& args) {
    gpu_.compute_attention(args);
    static_cast<std::uint16_t*>(const_cast<void*>(args.k))[7] ^= strays ? 0x4000U : 0U;
  };
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  ASSERT_FALSE(measurer.admit({1}, candidate_).failure);
  strays = true;
  EXPECT_FALSE(measurer.sample({1}, 1).failure);
  strays = false;
  ASSERT_FALSE(measurer.admit({2}, candidate_).failure);
  EXPECT_FALSE(measurer.recheck({2})) << "it did nothing";
  strays = true;
  EXPECT_TRUE(measurer.recheck({1}));
}

TEST_F(GpuMeasurerTest, ARightCandidateDoesNotRunAgainAtTheEnd) {
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  ASSERT_FALSE(measurer.admit({1}, candidate_).failure);
  ASSERT_FALSE(measurer.admit({2}, candidate_).failure);
  gpu_.candidate = [](const AttentionForwardArgs&) { FAIL() << "each of its samples was right"; };
  EXPECT_FALSE(measurer.recheck({1}));
}

// The run on the probe problem writes into the problem's tensors while samples of other candidates
// have not been checked.
TEST_F(GpuMeasurerTest, DamageByTheProbesRunIsTheCandidatesOwn) {
  const void* problems_q = nullptr;
  bool stray = false;
  gpu_.candidate = [&](const AttentionForwardArgs& args) {
    gpu_.compute_attention(args);
    if (args.batch == 2) {
      problems_q = args.q;
    } else if (stray) {
      static_cast<std::uint16_t*>(const_cast<void*>(problems_q))[3] = 0;
    }
  };
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  const Problem two_batches{2, 20, 3, 64, DType::fp16, false};
  measurer.begin_problem(two_batches, HostGpu::measurement_kernels());
  ASSERT_FALSE(measurer.admit({1}, candidate_for(two_batches)).failure);
  EXPECT_FALSE(measurer.sample({1}, 1).failure);
  stray = true;
  const Admission next = measurer.admit({2}, candidate_for(two_batches));
  ASSERT_TRUE(next.failure);
  EXPECT_THAT(outcome_summary(*next.failure), HasSubstr("wrote into its inputs"));
}

// The problem has four batches, its part has two, and the probe problem has one.
class PartMeasurerTest : public GpuMeasurerTest {
 protected:
  const Problem whole_{4, 20, 2, 64, DType::fp16, false};
  const Problem part_{2, 20, 2, 64, DType::fp16, false};

  PartMeasurerTest() {
    gpu_.candidate = [this](const AttentionForwardArgs& args) {
      batches_.push_back(args.batch);
      gpu_.compute_attention(args);
      if (args.batch == wrong_batch_) {
        static_cast<std::uint16_t*>(args.o)[5] = 0x4900;  // 10
      }
    };
  }

  void TearDown() override {
    measurer_.reset();
    context_.reset();
    GpuMeasurerTest::TearDown();
  }

  void begin() {
    context_.emplace(0);
    measurer_.emplace(*context_, HostGpu::limits(), policy_);
    measurer_->begin_problem(whole_, HostGpu::measurement_kernels(), part_);
    kernel_ = candidate_for(whole_);
    kernel_.part_geometry = kernel_.geometry;
    kernel_.part_geometry->arguments = candidate_for(part_).geometry.arguments;
  }
  /// Admits the candidate with a launch on the small problem.
  void admit_with_small_launch() {
    begin();
    kernel_.small_geometry = kernel_.probe_geometry;
    kernel_.is_repeated = true;
    const Admission admission = measurer_->admit({1}, kernel_);
    ASSERT_FALSE(admission.failure) << outcome_summary(*admission.failure);
  }
  Samples sample(Extent extent, int round = 0) {
    batches_.clear();
    return measurer_->sample({1}, SampleRequest{1, round, extent});
  }

  std::optional<gpu::Context> context_;
  std::optional<GpuMeasurer> measurer_;
  CandidateKernel kernel_;
  std::vector<int> batches_;  ///< of the candidate's launches
  int wrong_batch_ = 0;
};

TEST_F(PartMeasurerTest, ACandidateIsAdmittedOnThePart) {
  begin();
  const Admission admission = measurer_->admit({1}, kernel_);
  ASSERT_FALSE(admission.failure) << outcome_summary(*admission.failure);
  EXPECT_THAT(batches_, ElementsAre(1, 1, 1, 1, 2));
  EXPECT_THAT(admission.verification.method, HasSubstr("on batch 2"));
  EXPECT_EQ(admission.verification.inputs[0].elements, 2 * 20 * 2 * 64);
}

TEST_F(PartMeasurerTest, ItsFirstSampleOfTheWholeProblemIsVerifiedThere) {
  begin();
  ASSERT_FALSE(measurer_->admit({1}, kernel_).failure);
  EXPECT_FALSE(sample(Extent::part, 1).verification);
  EXPECT_THAT(batches_, ElementsAre(2));
  const Samples first = sample(Extent::whole, 2);
  EXPECT_FALSE(first.failure);
  EXPECT_THAT(batches_, ElementsAre(4));
  ASSERT_TRUE(first.verification);
  EXPECT_EQ(first.verification->method.find("on batch 2"), std::string::npos);
  ASSERT_THAT(first.verification->inputs, SizeIs(1));
  EXPECT_EQ(first.verification->inputs[0].input, "normal");
  EXPECT_EQ(first.verification->inputs[0].elements, 4 * 20 * 2 * 64);
  EXPECT_FALSE(sample(Extent::whole, 0).verification) << "once";
  EXPECT_FALSE(measurer_->recheck({1}));
}

TEST_F(PartMeasurerTest, ProbesAreMadeUpForBeforeTheFirstSampleOfTheWholeProblem) {
  admit_with_small_launch();
  EXPECT_EQ(std::ranges::count(batches_, 1), 2 + RepeatedLaunches::kLaunches);
  EXPECT_EQ(std::ranges::count(batches_, 4), 0);
  EXPECT_FALSE(sample(Extent::part).failure);
  EXPECT_THAT(batches_, ElementsAre(2));
  const Samples first = sample(Extent::whole);
  EXPECT_FALSE(first.failure);
  EXPECT_THAT(batches_, ElementsAre(1, 1, 4));
  EXPECT_THAT(first.verification->inputs, SizeIs(3)) << "normal, and the two of the probe";
  EXPECT_FALSE(sample(Extent::whole, 1).failure);
  EXPECT_THAT(batches_, ElementsAre(4));
}

TEST_F(PartMeasurerTest, AProbeThatGoesWrongThenIsTheCandidatesFault) {
  admit_with_small_launch();
  wrong_batch_ = 1;
  const Samples first = sample(Extent::whole);
  ASSERT_TRUE(first.failure);
  EXPECT_TRUE(std::holds_alternative<WrongResult>(*first.failure));
  EXPECT_THAT(batches_, ElementsAre(1, 1)) << "not run on the whole problem";
}

TEST_F(PartMeasurerTest, WhatIsWrongOnTheWholeProblemAloneIsFoundByItsFirstSampleThere) {
  wrong_batch_ = 4;
  begin();
  ASSERT_FALSE(measurer_->admit({1}, kernel_).failure);
  ASSERT_FALSE(sample(Extent::part, 1).failure);
  const Samples first = sample(Extent::whole);
  ASSERT_TRUE(first.failure);
  EXPECT_TRUE(std::holds_alternative<WrongResult>(*first.failure));
}

TEST_F(PartMeasurerTest, WhatIsWrongOnThePartIsNotAdmitted) {
  wrong_batch_ = 2;
  begin();
  const Admission admission = measurer_->admit({1}, kernel_);
  ASSERT_TRUE(admission.failure);
  EXPECT_TRUE(std::holds_alternative<WrongResult>(*admission.failure));
}

TEST_F(GpuMeasurerTest, AWriteOverTheInputsDuringTimingIsFound) {
  int launches = 0;
  gpu_.candidate = [this, &launches](const AttentionForwardArgs& args) {
    gpu_.compute_attention(args);
    if (++launches == kProbes + kTimed) {
      static_cast<std::uint16_t*>(const_cast<void*>(args.k))[7] ^= 1U;
    }
  };
  EXPECT_THAT(outcome_summary(measure()), HasSubstr("after timing: input normal: wrote into"));
}

TEST_F(GpuMeasurerTest, OneKeyIsRightWhenTheOutputIsItsValue) {
  const Problem one_key{1, 1, 2, 64, DType::fp16, false};
  gpu_.candidate = [](const AttentionForwardArgs& args) {
    std::copy_n(static_cast<const std::uint16_t*>(args.v), 128,
                static_cast<std::uint16_t*>(args.o));
  };
  const Outcome outcome = measure(one_key);
  ASSERT_TRUE(std::holds_alternative<Measured>(outcome)) << outcome_summary(outcome);
  const ErrorStats& stats = std::get<Measured>(outcome).verification.inputs[0];
  EXPECT_EQ(stats.max_abs_reference_error, 0.0);
  EXPECT_GT(stats.limit, 0.0);
}

TEST_F(GpuMeasurerTest, TooMuchSharedMemoryIsUnlaunchableWithTheFigures) {
  candidate_.geometry.dynamic_smem_bytes = 300'000;
  const Outcome outcome = measure();
  ASSERT_TRUE(std::holds_alternative<Unlaunchable>(outcome)) << outcome_name(outcome);
  EXPECT_THAT(outcome_summary(outcome), AllOf(HasSubstr("300000"), HasSubstr("232448")));
  EXPECT_EQ(gpu_.count("candidate"), 0);
}

TEST_F(GpuMeasurerTest, TooManyThreadsAreUnlaunchableWithTheFigures) {
  candidate_.geometry.block = {2048, 1, 1};
  EXPECT_THAT(outcome_summary(measure()), AllOf(HasSubstr("2048 threads"), HasSubstr("1024")));
}

TEST_F(GpuMeasurerTest, TooLargeAGridIsUnlaunchable) {
  candidate_.geometry.grid = {1, 70000, 1};
  EXPECT_THAT(outcome_summary(measure()), HasSubstr("70000"));
}

TEST_F(GpuMeasurerTest, ALaunchThatTheDriverRefusesIsUnlaunchable) {
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  const gpu::ScopedVariable refuse("FATUNE_FAKE_FAIL", "cuLaunchKernel=701");
  const Outcome outcome = measure_alone(measurer, candidate_);
  ASSERT_TRUE(std::holds_alternative<Unlaunchable>(outcome)) << outcome_name(outcome);
  EXPECT_THAT(outcome_summary(outcome), HasSubstr("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"));
  EXPECT_FALSE(measurer.context_lost());
}

TEST_F(GpuMeasurerTest, ACrashIsAnOutcomeAndTheContextIsLost) {
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  const std::string next_but_one = std::to_string(gpu::FakeDriver::launches() + 2);
  const gpu::ScopedVariable crash("FATUNE_FAKE_KERNEL_ERROR", "700@" + next_but_one);
  const Outcome outcome = measure_alone(measurer, candidate_);
  ASSERT_TRUE(std::holds_alternative<Crashed>(outcome)) << outcome_name(outcome);
  EXPECT_THAT(outcome_summary(outcome),
              AllOf(HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"), HasSubstr("illegal memory access")));
  EXPECT_TRUE(measurer.context_lost());
}

TEST_F(GpuMeasurerTest, MachineCodeThatDoesNotLoadIsUnlaunchable) {
  Artifact broken = *candidate_.artifact;
  broken.cubin.assign(128, 'x');
  candidate_.artifact = std::make_shared<const Artifact>(broken);
  EXPECT_THAT(outcome_summary(measure()), HasSubstr("CUDA_ERROR_INVALID_IMAGE"));
}

TEST_F(GpuMeasurerTest, AProblemThatDoesNotFitIsRefusedBeforeAnythingIsAllocated) {
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  const std::int64_t free_bytes = context.memory().free_bytes;
  try {
    measurer.begin_problem({16, 16384, 16, 64, DType::fp16, false}, HostGpu::measurement_kernels());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::too_large);
  }
  EXPECT_EQ(context.memory().free_bytes, free_bytes);
  EXPECT_EQ(gpu::FakeDriver::launches(), 0);
}

TEST_F(GpuMeasurerTest, TheNextProblemReplacesTheLast) {
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  const std::int64_t free_bytes = context.memory().free_bytes;
  measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
  EXPECT_EQ(context.memory().free_bytes, free_bytes);
  EXPECT_TRUE(std::holds_alternative<Measured>(measure_alone(measurer, candidate_)));
}

TEST_F(GpuMeasurerTest, MeasuringWithoutAProblemIsABug) {
  const gpu::Context context(0);
  GpuMeasurer measurer(context, HostGpu::limits(), policy_);
  EXPECT_THROW(static_cast<void>(measure_alone(measurer, candidate_)), std::logic_error);
}

// The driver runs no kernels, not even the checks, so no fault is found.
class NothingRuns : public gpu::FakeDriverTest {
 protected:
  static Outcome measure() {
    const gpu::Context context(0);
    GpuMeasurer measurer(context, HostGpu::limits(), small_policy());
    measurer.begin_problem(kMeasuredProblem, HostGpu::measurement_kernels());
    return measure_alone(measurer, HostGpu::make_candidate());
  }
};

TEST_F(NothingRuns, ChecksThatDidNotRunAreNoProof) {
  const gpu::ScopedVariable none("FATUNE_FAKE_CHECKS", "0");
  const Outcome outcome = measure();
  ASSERT_TRUE(std::holds_alternative<WrongResult>(outcome)) << outcome_name(outcome);
  EXPECT_THAT(outcome_summary(outcome), HasSubstr("0 of 2560 values were compared"));
}

TEST_F(NothingRuns, TheFakeDriverPretendsThatTheyRanWhenNobodyLooksOn) {
  EXPECT_TRUE(std::holds_alternative<Measured>(measure()));
}

}  // namespace
}  // namespace fatune
