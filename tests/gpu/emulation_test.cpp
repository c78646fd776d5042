// Compares the outputs of whole kernels on the emulator with those of this machine's GPU.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/attention_args.h"
#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "gpu/compiler.hpp"
#include "gpu/context.hpp"
#include "gpu/gpu_test.hpp"
#include "gpu/module.hpp"
#include "model/cpu_reference.hpp"
#include "plan/planner.hpp"
#include "proof/emulated_inputs.hpp"
#include "proof/emulated_launch.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

/// docs/emulate.md documents these limits.
constexpr double kMostDifferent = 0.005;     ///< the share of outputs that may differ
constexpr double kMostRelative = 1.0 / 128;  ///< of the largest output: one unit of bf16

struct Trial {
  const char* config;
  std::int64_t seq_len;
  bool causal;
};

constexpr std::array kTrials{
    Trial{"(FP16, 128, 64, 64, 4): load_0_0_0_tiles", 256, false},
    Trial{"(FP16, 128, 64, 64, 4): async+load_0_0_0_tiles", 256, false},
    Trial{"(FP16, 128, 64, 64, 4): async+swizzled+load_0_0_0_tiles", 200, false},
    Trial{"(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_0_0_tiles", 256, true},
    Trial{"(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles", 256, false},
    Trial{"(FP16, 128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles", 300, true},
    Trial{"(FP16, 128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles+buffer", 256, false},
    Trial{"(FP16, 128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles+buffer+opt_softmax", 384,
          false},
    Trial{"(FP16, 128, 64, 32, 4): async+eager+swizzled+load_0_2_2_tiles+opt_softmax", 256, false},
    Trial{"(FP16, 128, 64, 32, 4): async+eager+swizzled+load_0_0_0_tiles+opt_softmax", 333, true},
    Trial{"(FP16, 128, 128, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax", 256, false},
    Trial{"(FP16, 128, 128, 32, 4): async+eager+swizzled+load_0_0_0_tiles+opt_softmax", 384, true},
    Trial{"(BF16, 128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax", 256, false},
    Trial{"(BF16, 128, 128, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax", 200, true},
    Trial{"(BF16, 128, 64, 32, 4): async+eager+load_0_0_0_tiles", 256, false},
    Trial{"(FP16, 64, 64, 64, 4): async+eager+swizzled+load_0_0_0_tiles", 256, false},
    Trial{"(FP16, 64, 64, 64, 4): async+swizzled+load_0_0_0_tiles+opt_softmax", 300, true},
    Trial{"(FP16, 64, 128, 64, 4): async+eager+swizzled+load_0_0_0_tiles+opt_softmax", 256, false},
    Trial{"(BF16, 64, 64, 64, 4): async+swizzled+load_0_0_0_tiles", 200, false},
    Trial{"(BF16, 64, 64, 32, 4): async+eager+swizzled+load_0_0_0_tiles+opt_softmax", 256, true},
};

std::vector<std::uint16_t> run_on_gpu(const Artifact& artifact, const Problem& problem,
                                      const LaunchGeometry& geometry, const HeadInputs& inputs) {
  const gpu::Stream stream;
  const auto bytes = static_cast<std::int64_t>(inputs.q.size() * 2);
  const gpu::DeviceBuffer q(bytes);
  const gpu::DeviceBuffer k(bytes);
  const gpu::DeviceBuffer v(bytes);
  const gpu::DeviceBuffer o(bytes);
  gpu::copy_to_device_async(q.address(), inputs.q.data(), bytes, stream);
  gpu::copy_to_device_async(k.address(), inputs.k.data(), bytes, stream);
  gpu::copy_to_device_async(v.address(), inputs.v.data(), bytes, stream);
  AttentionForwardArgs args{};
  args.q = q.as<const void>();
  args.k = k.as<const void>();
  args.v = v.as<const void>();
  args.o = o.as<void>();
  args.batch = static_cast<int>(problem.batch);
  args.seq_len = static_cast<int>(problem.seq_len);
  args.heads = static_cast<int>(problem.heads);
  args.softmax_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(problem.d_head)));
  const gpu::Module module(artifact.cubin);
  const gpu::Function kernel = module.function(artifact.lowered_name);
  kernel.allow_dynamic_smem(geometry.dynamic_smem_bytes);
  gpu::launch_with(kernel, geometry, stream, args);
  std::vector<std::uint16_t> output(inputs.q.size());
  gpu::copy_to_host_async(output.data(), o.address(), bytes, stream);
  stream.synchronize();
  return output;
}

std::vector<std::uint16_t> run_on_cpu(const Artifact& artifact, const Problem& problem,
                                      const LaunchGeometry& geometry, const EmulatedInput& input) {
  const PtxModule module = parse_ptx(artifact.ptx, "PTX");
  const emulate::Program program = emulate::decode_program(module, artifact.lowered_name, "PTX");
  EmulatedLaunch launch;
  launch.on.problem = problem;
  launch.geometry = geometry;
  return run_emulated(program, launch, input.tensors, {}).output;
}

class GpuEmulation : public GpuTest, public ::testing::WithParamInterface<Trial> {};

TEST_P(GpuEmulation, OutputsAreThoseOfTheGpu) {
  const Config config = fixtures::flash_config(GetParam().config);
  const std::string_view text = GetParam().config;  // "(FP16, 128, ..."
  const std::int64_t d_head = text.substr(7, 3) == "128" ? 128 : 64;
  const DType dtype = text.starts_with("(BF16") ? DType::bf16 : DType::fp16;
  const Problem problem{1, GetParam().seq_len, 2, d_head, dtype, GetParam().causal};
  const CompileResult compiled =
      compile(compile_request({fixtures::flash(), config, problem, limits()}), nullptr, true);
  ASSERT_TRUE(std::holds_alternative<Artifact>(compiled));
  const auto& artifact = std::get<Artifact>(compiled);
  const LaunchGeometry geometry = launch_geometry({fixtures::flash(), config, problem, limits()});
  EmulatedInputs inputs(1);
  for (const EmulatedInput& input : inputs.of({problem, std::nullopt})) {
    const auto expected = run_on_gpu(artifact, problem, geometry, input.tensors);
    const auto actual = run_on_cpu(artifact, problem, geometry, input);
    ASSERT_EQ(expected.size(), actual.size());
    const std::vector<double> on_gpu = element_values(expected, problem.dtype);
    const std::vector<double> on_cpu = element_values(actual, problem.dtype);
    std::size_t different = 0;
    double worst = 0.0;
    double greatest = 0.0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      different += expected[i] != actual[i] ? 1U : 0U;
      worst = std::max(worst, std::abs(on_gpu[i] - on_cpu[i]));
      greatest = std::max(greatest, std::abs(on_gpu[i]));
    }
    const double share = static_cast<double>(different) / static_cast<double>(expected.size());
    fmt::print("{} s{}{} {}: {:.3f} % differ, by {:.2g} at most; greatest output {:.3g}\n",
               GetParam().config, problem.seq_len, problem.causal ? " causal" : "", input.name,
               share * 100.0, worst, greatest);
    EXPECT_LE(share, kMostDifferent) << input.name;
    EXPECT_LE(worst, greatest * kMostRelative) << input.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GpuEmulation, ::testing::ValuesIn(kTrials));

}  // namespace
}  // namespace fatune
