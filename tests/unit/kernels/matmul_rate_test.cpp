// Runs the kernel that measures a device's rate of dense products in the emulator. Its sums are the
// products of its operands, by wgmma and by mma.sync.
#include <cstdint>
#include <cstring>
#include <numeric>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "emulator/launch.hpp"
#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "gpu/compiler.hpp"
#include "measure/measurement_module.hpp"
#include "model/cpu_reference.hpp"
#include "reference/matmul_rate_args.h"
#include "unit/kernels/matmul_sums.hpp"
#include "unit/measure/kernel_sources.hpp"

namespace fatune {
namespace {

struct MatmulTarget {
  DType dtype;
  Arch arch;
};

void PrintTo(const MatmulTarget& target, std::ostream* out) {
  *out << dtype_name(target.dtype) << ' ' << arch_name(target.arch);
}

/// The memory after a launch of two blocks.
struct MatmulRun {
  std::vector<std::uint16_t> a, b;
  std::vector<float> sums;
};

constexpr int kProducts = 2 * kMatmulGroup;

class MatmulRate : public testing::TestWithParam<MatmulTarget> {
 protected:
  static CompileRequest request() {
    return matmul_request(read_sources(matmul_source_names()), GetParam().dtype, GetParam().arch);
  }

  template <typename Element>
  static std::uint64_t allocate(emulate::GlobalMemory& memory, const char* name, int elements) {
    emulate::Allocation allocation;
    allocation.name = name;
    allocation.bytes.assign(static_cast<std::size_t>(elements) * sizeof(Element), 0xff);
    return memory.allocate(std::move(allocation), emulate::GlobalMemory::Content::undefined);
  }
  template <typename Element>
  static std::vector<Element> read(const emulate::GlobalMemory& memory, std::uint64_t address) {
    const std::vector<std::uint8_t>& bytes = memory.at(address).bytes;
    std::vector<Element> elements(bytes.size() / sizeof(Element));
    std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }

  static MatmulRun run() {
    const auto artifact = std::get<Artifact>(compile_to_ptx(request()));
    const PtxModule module = parse_ptx(artifact.ptx, "matmul_rate");
    const emulate::Program program =
        emulate::decode_program(module, artifact.lowered_name, "matmul_rate");
    emulate::GlobalMemory memory;
    const std::uint64_t a = allocate<std::uint16_t>(memory, "A", kMatmulRows * kMatmulDepth);
    const std::uint64_t b = allocate<std::uint16_t>(memory, "B", kMatmulColumns * kMatmulDepth);
    const std::uint64_t sums = allocate<float>(memory, "sums", kMatmulRows * kMatmulColumns);
    const MatmulRateArgs arguments{kProducts, reinterpret_cast<unsigned short*>(a),
                                   reinterpret_cast<unsigned short*>(b),
                                   reinterpret_cast<float*>(sums)};
    emulate::LaunchSetup setup;
    setup.grid = {2, 1, 1};
    setup.block = {kMatmulThreads, 1, 1};
    setup.parameters = {reinterpret_cast<const std::uint8_t*>(&arguments), sizeof arguments};
    setup.schedule = {emulate::Timing::random, 3};
    const emulate::LaunchResult result = emulate::run_kernel(program, memory, setup);
    EXPECT_TRUE(result.finished);
    for (const emulate::Finding& finding : result.findings.all()) {
      ADD_FAILURE() << finding.text;
    }
    return {read<std::uint16_t>(memory, a), read<std::uint16_t>(memory, b),
            read<float>(memory, sums)};
  }
};

TEST_P(MatmulRate, ItsSumsAreTheProductsOfItsOperands) {
  const MatmulRun done = run();
  const DType dtype = GetParam().dtype;
  expect_matmul_sums(done.sums, kProducts, element_values(done.a, dtype),
                     element_values(done.b, dtype));
}

// Products of zeros, or of the same number, draw less power than those of attention.
TEST_P(MatmulRate, ItsOperandsAreNormal) {
  const MatmulRun done = run();
  for (const auto* operand : {&done.a, &done.b}) {
    const std::vector<double> values = element_values(*operand, GetParam().dtype);
    const auto count = static_cast<double>(values.size());
    EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / count, 0.0, 0.05);
    EXPECT_NEAR(std::inner_product(values.begin(), values.end(), values.begin(), 0.0) / count, 1.0,
                0.05);
  }
  EXPECT_NE(std::vector(done.a.begin(), done.a.begin() + kMatmulDepth),
            std::vector(done.b.begin(), done.b.begin() + kMatmulDepth));
}

// If ptxas serialised asynchronous products, or spilled, the rate would not be the device's.
TEST_P(MatmulRate, ItsMachineCodeKeepsTheTensorCoresBusy) {
  const Artifact artifact = compile_or_throw(request());
  EXPECT_EQ(artifact.facts.spill_store_bytes, 0);
  EXPECT_EQ(artifact.facts.local_bytes, 0);
  for (const AssemblerNote& note : artifact.facts.notes) {
    EXPECT_FALSE(note.loses_speed) << note.text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Targets, MatmulRate,
    testing::Values(MatmulTarget{DType::fp16, {90, 'a'}}, MatmulTarget{DType::bf16, {90, 'a'}},
                    MatmulTarget{DType::fp16, {80, '\0'}}, MatmulTarget{DType::bf16, {89, '\0'}}),
    [](const auto& target) {
      return std::string(dtype_name(target.param.dtype)) + "_" + arch_name(target.param.arch);
    });

}  // namespace
}  // namespace fatune
