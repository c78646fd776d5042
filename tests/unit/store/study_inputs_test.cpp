// What is told to searches before they begin.
#include "store/study_inputs.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/file_tree.hpp"
#include "choose/tuned_choice.hpp"
#include "plan/family.hpp"

namespace fatune {
namespace {

// Only tuned problems of the same kinds are loaded for suggestions.
TEST(SuggestTuned, NamesWhatIsPredictedFromAllThatFatuneShips) {
  const FileTree tree;
  const FamilySet families{{load_family(tree, "flash_decode"),
                            load_family(tree, "flash_decode_sm80"), load_family(tree, "flash_sm80"),
                            load_family(tree, "flash_sm90")}};
  Problem prompt{4, 3000, 16, 128, DType::bf16, true};
  prompt.kv_heads = 4;
  Problem decoding{7, 1, 24, 64, DType::bf16, false};
  decoding.seq_len_kv = 9000;
  decoding.kv_heads = 4;
  const TunedTable all = load_tuned({}, families);
  ASSERT_GE(all.gpus.size(), 2U);
  for (const auto& [model, limits] : all.gpus) {
    std::vector<ProblemPlan> plans(2);
    plans[0].problem = prompt;
    plans[1].problem = decoding;
    StoreOptions without_store;
    without_store.off = true;
    suggest_tuned(families, without_store, limits, plans);
    for (const ProblemPlan& plan : plans) {
      std::vector<Config> expected =
          predicted_order(all, plan.problem, limits, families_say(families));
      ASSERT_FALSE(plan.suggested.empty());
      ASSERT_GE(expected.size(), plan.suggested.size());
      expected.resize(plan.suggested.size());
      EXPECT_EQ(plan.suggested, expected) << limits.name;
    }
  }
}

}  // namespace
}  // namespace fatune
