#include "proof/kernel_counts.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"

namespace fatune {
namespace {

using emulate::InstructionCounts;

InstructionCounts executed(std::uint64_t warps) {
  InstructionCounts counts;
  counts.warps = warps;
  counts.threads = 32 * warps;
  return counts;
}

/// Counts the work of a kernel with these statements, each executed ten times by a warp.
CountedWork work_of(const std::string& statements) {
  const PtxModule module = parse_ptx(
      ".visible .entry k()\n{\n.reg .pred %p<9>; .reg .b32 %r<20>; .reg .f32 %f<20>;\n"
      ".reg .b64 %w<9>;\n.shared .align 16 .b8 tile[512];\n" +
          statements + "\nret;\n}\n",
      "test.ptx");
  const emulate::Program program = emulate::decode_program(module, "k", "test.ptx");
  std::vector<InstructionCounts> counts(program.instructions.size());
  for (std::size_t i = 0; i + 2 < counts.size(); ++i) {  // all but the kernel's end
    counts[i] = executed(10);
  }
  return count_work(counts, program, module.functions.at(0));
}

TEST(CountWork, MatrixProductsCountByTheirShape) {
  const CountedWork work = work_of(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, "
      "%r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};");
  EXPECT_EQ(work.tensor_flop, 10 * 2.0 * 16 * 8 * 16);
  EXPECT_EQ(work.warpgroup_flop, 0.0);
  EXPECT_EQ(work.warp_instructions, 10.0);
}

TEST(CountWork, EachInstructionKeepsOnePipeBusy) {
  const CountedWork work = work_of(
      "ex2.approx.ftz.f32 %f0, %f1;\n"
      "fma.rn.f32 %f2, %f0, %f1, %f3;\nadd.f32 %f3, %f2, %f1;\n"
      "max.f32 %f4, %f2, %f1;\nadd.s32 %r0, %r1, %r2;\nsetp.lt.s32 %p1, %r0, %r1;\n"
      "mov.b32 %r3, %r0;\n"
      "bar.sync 0;");
  EXPECT_EQ(work.special_functions, 320.0);
  EXPECT_EQ(work.fp32_operations, 640.0);
  EXPECT_EQ(work.integer_operations, 960.0);
  EXPECT_EQ(work.warp_instructions, 70.0) << "of a mov nothing is left";
  EXPECT_EQ(work.tensor_flop, 0.0);
}

TEST(CountWork, MemoryCountsByWavefrontsAndSectors) {
  const PtxModule module = parse_ptx(
      ".visible .entry k()\n{\n.reg .b32 %r<9>;\n.shared .align 16 .b8 tile[512];\n"
      "ld.shared.u32 %r1, [tile];\nret;\n}\n",
      "test.ptx");
  const emulate::Program program = emulate::decode_program(module, "k", "test.ptx");
  std::vector<InstructionCounts> counts(program.instructions.size());
  counts[0] = executed(3);
  counts[0].shared_wavefronts = 24;
  counts[0].global_sectors = 5;
  const CountedWork work = count_work(counts, program, module.functions.at(0));
  EXPECT_EQ(work.smem_traffic_bytes, 24 * 128.0);
  EXPECT_EQ(work.global_sectors, 5.0);
  EXPECT_EQ(work.integer_operations, 0.0);
}

/// A kernel whose blocks of `rows` queries each do 100 operations, plus 3 for each key they see.
class Affine {
 public:
  Affine(std::int64_t rows, bool causal) : rows_(rows), causal_(causal) {}

  [[nodiscard]] Problem problem(std::int64_t seq_len, std::int64_t batch = 1) const {
    return {batch, seq_len, 4, 64, DType::fp16, causal_};
  }
  [[nodiscard]] std::int64_t tiles(const Problem& problem) const {
    return problem.seq_len / rows_ * problem.heads * problem.batch;
  }
  /// The operations of one head.
  [[nodiscard]] double of_head(std::int64_t seq_len) const {
    double sum = 0.0;
    for (std::int64_t first = 0; first < seq_len; first += rows_) {
      sum += 100.0 + 3.0 * static_cast<double>(causal_ ? first + rows_ : seq_len);
    }
    return sum;
  }
  [[nodiscard]] CountedSample sample(std::int64_t seq_len) const {
    EmulatedLaunch launch;
    launch.on = {problem(seq_len), 3};
    launch.blocks.extent = {seq_len / rows_, 1, 1};
    CountedWork work;
    work.fp32_operations = of_head(seq_len);
    return counted_sample(work, launch);
  }

 private:
  std::int64_t rows_;
  bool causal_;
};

TEST(ScaleWork, IsExactWhereTilesDivideTheLength) {
  for (const bool causal : {false, true}) {
    for (const std::int64_t rows : {64, 128}) {
      const Affine kernel(rows, causal);
      const Problem problem = kernel.problem(4096, 2);
      const CountedSample longer = kernel.sample(512);
      const auto work = scale_work(kernel.sample(256), &longer, problem,
                                   [&](const Problem& of) { return kernel.tiles(of); });
      EXPECT_DOUBLE_EQ(work.value().fp32_operations, 2 * 4 * kernel.of_head(4096))
          << rows << causal;
    }
  }
}

TEST(ScaleWork, OneSampleIsOfTheSameLength) {
  const Affine kernel(64, true);
  const Problem problem = kernel.problem(256, 3);
  const auto work = scale_work(kernel.sample(256), nullptr, problem,
                               [&](const Problem& of) { return kernel.tiles(of); });
  EXPECT_DOUBLE_EQ(work.value().fp32_operations, 3 * 4 * kernel.of_head(256));
}

TEST(ScaleWork, GivesNothingThatCannotBe) {
  const Affine kernel(64, false);
  const Problem problem = kernel.problem(4096);
  const CountedSample shorter = kernel.sample(256);
  CountedSample longer = kernel.sample(512);
  EXPECT_FALSE(scale_work(shorter, &longer, problem, [](const Problem&) { return std::nullopt; }));
  longer.work.fp32_operations = shorter.work.fp32_operations;  // less for each tile
  EXPECT_FALSE(
      scale_work(shorter, &longer, problem, [&](const Problem& of) { return kernel.tiles(of); }));
}

}  // namespace
}  // namespace fatune
