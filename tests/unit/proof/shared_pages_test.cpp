#include <algorithm>
#include <variant>
#include <vector>

#include <gmock/gmock.h>

#include "gpu/compiler.hpp"
#include "model/cpu_reference.hpp"
#include "model/error_rule.hpp"
#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "proof/emulated_launch.hpp"
#include "proof/findings.hpp"
#include "unit/plan/plan_fixtures.hpp"

// Sequences that begin with the same pages, as those with a common prompt do.
namespace fatune {
namespace {

constexpr std::int64_t kPageSize = 16;
constexpr std::size_t kSharedPages = 6;

Problem shared_problem() {
  Problem problem{3, 2, 4, 64, DType::fp16, true};
  problem.kv_heads = 2;
  problem.seq_len_kv = 200;
  problem.seq_lens_kv = "200,170,96";
  problem.page_size = kPageSize;
  return problem;
}

/// The inputs of the problem, but that all sequences begin with the first one's pages.
HeadInputs shared_inputs(const Problem& problem) {
  HeadInputs inputs = EmulatedInputs(5).random_tensors(problem);
  const auto width = static_cast<std::ptrdiff_t>(pages_of_sequence(problem));
  const auto first = inputs.page_table.begin();
  for (std::ptrdiff_t sequence = 1; sequence < problem.batch; ++sequence) {
    std::copy_n(first, kSharedPages, first + sequence * width);
  }
  return inputs;
}

/// The keys of all sequences, one after another, as the table says; 0 behind their ends.
std::vector<std::uint16_t> contiguous(const Problem& problem, TensorRole role,
                                      const std::vector<std::uint16_t>& pool,
                                      const std::vector<std::int32_t>& table) {
  const TensorShape from = tensor_shape(problem, role);
  const TensorShape to = tensor_shape(without_pages(problem), role);
  std::vector<std::uint16_t> all(static_cast<std::size_t>(to.elements()), 0);
  for (std::int64_t batch = 0; batch < to.batch; ++batch) {
    for (std::int64_t key = 0; key < kv_lengths(problem)[static_cast<std::size_t>(batch)]; ++key) {
      const auto entry =
          static_cast<std::size_t>(batch * pages_of_sequence(problem) + key / kPageSize);
      for (std::int64_t head = 0; head < to.heads; ++head) {
        std::copy_n(pool.begin() + from.row_offset(table[entry], key % kPageSize, head), to.columns,
                    all.begin() + to.row_offset(batch, key, head));
      }
    }
  }
  return all;
}

TEST(SharedPages, AreReadByAllOfTheirSequences) {
  const Family family = load_family(FileTree{}, "flash_decode");
  const Config config = parse_config(family, "(FP16, 64, 8, 64, 2, 1): parts_128");
  const Problem problem = shared_problem();
  const ConfigCase of{family, config, problem, fixtures::h200()};
  const CompileRequest request = compile_request(of);
  const CompileResult compiled = compile_to_ptx(request, nullptr);
  ASSERT_TRUE(std::holds_alternative<Artifact>(compiled));
  const EmulatedLaunch launch = planned_launch(of);
  const EmulatedKernel kernel = read_kernel(std::get<Artifact>(compiled), *request.sources,
                                            "shared pages", launch.geometry.arguments);
  const HeadInputs inputs = shared_inputs(problem);
  const EmulatedOutput output = run_emulated(kernel.program, launch, inputs, {});
  EXPECT_TRUE(output.result.finished);
  EXPECT_TRUE(output.result.findings.empty());
  EXPECT_FALSE(output.inputs_changed);

  const auto values = [&](TensorRole role, const std::vector<std::uint16_t>& pool) {
    return element_values(contiguous(problem, role, pool, inputs.page_table), problem.dtype);
  };
  const Problem same = without_pages(problem);
  const std::vector<double> q = element_values(inputs.q, problem.dtype);
  const std::vector<double> k = values(TensorRole::k, inputs.k);
  const std::vector<double> v = values(TensorRole::v, inputs.v);
  const ErrorStats stats =
      compare_outputs("shared pages", problem, output.output, cpu_attention(same, q, k, v),
                      cpu_rounded_attention(same, q, k, v));
  EXPECT_EQ(find_fault(stats).value_or(""), "");
}

}  // namespace
}  // namespace fatune
