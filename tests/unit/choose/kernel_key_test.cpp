#include "choose/library.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "choose/tuned_table.hpp"
#include "gpu/compiler.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "unit/choose/sample_library.hpp"

namespace fatune {
namespace {

TEST(KernelKey, IsTheSameWhereTheMachineCodeIs) {
  const FamilySet families = samples::library_families();
  const TunedTable table = samples::library_table(families);
  const DeviceLimits device = samples::h200();
  const RuntimeTable runtime_table(table);
  std::mt19937 engine(11);
  std::size_t shared = 0;
  for (const Config* config : runtime_table.configs()) {
    const Family& family = families.of(*config);
    std::map<std::vector<double>, std::string> artifacts;
    for (int i = 0; i < 60; ++i) {
      const Problem problem = samples::any_problem(engine);
      const std::string artifact =
          artifact_key(compile_request({family, *config, problem, device}));
      const auto [known, is_new] =
          artifacts.emplace(kernel_key(family, *config, problem, device), artifact);
      EXPECT_EQ(known->second, artifact) << describe(problem);
      shared += is_new ? 0 : 1;
    }
  }
  EXPECT_GT(shared, 100U);
}

/// A table of two problems, in groups of 4 and of 6 heads. Only the first has the configuration;
/// both have the other one, which is the default of its family.
TunedTable two_groups(const Config& config, const Config& other) {
  const TunedTime of_other{other, "other", 10.0, 0.0, 1, "gpu"};
  TunedTable table;
  table.gpus.emplace(model_of(samples::h200()), samples::h200());
  Problem problem{4, 16, 32, 128, DType::bf16, true};
  problem.seq_len_kv = 4096;
  problem.kv_heads = 8;
  table.problems.push_back(
      {model_of(samples::h200()), problem, {of_other, {config, "one", 11.0, 10.0, 2, "gpu"}}});
  problem.heads = 48;
  table.problems.push_back({model_of(samples::h200()), problem, {of_other}});
  finish_table(table);
  return table;
}

/// The cases of the first configuration whose problems have as many heads for each of K and V.
std::ptrdiff_t cases_in_groups_of(std::int64_t group, const char* family, const char* config,
                                  const char* other) {
  const FamilySet families = samples::library_families();
  const auto parsed = [&](const char* text) { return parse_config(*families.find(family), text); };
  const Config one = parsed(config);
  const TunedTable table = two_groups(one, parsed(other));
  const std::vector<KernelCases> cases = kernel_cases(table, families, {&one});
  return std::ranges::count_if(cases.front(), [&](const auto& built) {
    const Problem& problem = built.second.problem;
    return problem.heads == group * problem.kv_heads;
  });
}

TEST(KernelCases, ServeGroupsOfHeadsThatOtherRowsHave) {
  const auto packed_cases = [](std::int64_t group) {
    return cases_in_groups_of(group, "flash_sm90",
                              "(ws_pp, BF16, 128, 128, 128, 2, 8, 2): "
                              "overlap+lazy+slots_1+cluster_1+persistent+pack_gqa",
                              "(ws_pp, BF16, 128, 128, 96, 2, 8, 2): "
                              "overlap+lazy+slots_1+cluster_1+persistent+pack_gqa");
  };
  EXPECT_EQ(packed_cases(6), 2) << "with lengths of keys and without";
  EXPECT_GT(packed_cases(4), 1) << "with log-sum-exps, at other lengths";
  EXPECT_EQ(cases_in_groups_of(6, "flash_decode", "(BF16, 128, 64, 64, 3, 1): parts_1024",
                               "(BF16, 128, 64, 64, 2, 1): parts_1024"),
            0)
      << "its code is for any group";
}

Config decode_config(const FamilySet& families) {
  return parse_config(*families.find("flash_decode"), "(BF16, 128, 32, 64, 3, 1): parts_1024");
}

/// Decoding in BF16 with four query heads for each head of K and V.
Problem decode_problem(std::int64_t batch, std::int64_t seq_len_kv, std::int64_t kv_heads,
                       DType kv_dtype, KvScales kv_scales) {
  Problem problem{batch, 1, 4 * kv_heads, 128, DType::bf16, false};
  problem.seq_len_kv = seq_len_kv;
  problem.kv_heads = kv_heads;
  problem.kv_dtype = kv_dtype;
  problem.kv_scales = kv_scales;
  return problem;
}

/// The cases of a configuration of flash_decode that has a time on one problem alone.
KernelCases cases_of_row(DType kv_dtype, KvScales kv_scales) {
  const FamilySet families = samples::library_families();
  const Config config = decode_config(families);
  const Problem problem = decode_problem(4, 4096, 8, kv_dtype, kv_scales);
  TunedTable table;
  table.gpus.emplace(model_of(samples::h200()), samples::h200());
  table.problems.push_back(
      {model_of(samples::h200()), problem, {{config, "one", 10.0, 0.0, 1, "gpu"}}});
  finish_table(table);
  return kernel_cases(table, families, {&config}, {.packed = true, .page_sizes = {16}}).front();
}

/// Whether one of the cases has the machine code for a problem of these.
bool have_code_for(const KernelCases& cases, DType kv_dtype, KvScales kv_scales,
                   std::int64_t page_size = 0) {
  const FamilySet families = samples::library_families();
  const Config config = decode_config(families);
  Problem problem = decode_problem(2, 2048, 4, kv_dtype, kv_scales);
  problem.page_size = page_size;
  return cases.contains(kernel_key(families.of(config), config, problem, samples::h200()));
}

TEST(KernelCases, AreOfTheTypesOfKAndVThatRowsHave) {
  const KernelCases cases = cases_of_row(DType::e4m3, KvScales::head);
  for (const std::int64_t page_size : {0, 16}) {
    EXPECT_TRUE(have_code_for(cases, DType::e4m3, KvScales::head, page_size));
    EXPECT_TRUE(have_code_for(cases, DType::e4m3, KvScales::tensor, page_size));
    EXPECT_FALSE(have_code_for(cases, DType::e4m3, KvScales::token, page_size));
    EXPECT_FALSE(have_code_for(cases, DType::e5m2, KvScales::head, page_size));
    EXPECT_FALSE(have_code_for(cases, DType::bf16, KvScales::tensor, page_size));
  }
  const KernelCases plain = cases_of_row(DType::bf16, KvScales::tensor);
  EXPECT_TRUE(have_code_for(plain, DType::bf16, KvScales::tensor));
  EXPECT_FALSE(have_code_for(plain, DType::e4m3, KvScales::tensor));
}

TEST(KernelCases, OfScalesOfKeysHaveThoseOfPages) {
  const KernelCases cases = cases_of_row(DType::e5m2, KvScales::token);
  EXPECT_TRUE(have_code_for(cases, DType::e5m2, KvScales::token));
  EXPECT_TRUE(have_code_for(cases, DType::e5m2, KvScales::page, 16));
  EXPECT_FALSE(have_code_for(cases, DType::e5m2, KvScales::head, 16));
}

}  // namespace
}  // namespace fatune
