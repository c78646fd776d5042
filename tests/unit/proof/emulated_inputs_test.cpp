#include "proof/emulated_inputs.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <set>
#include <utility>

#include "model/cpu_reference.hpp"
#include "model/kv_pages.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;

const Problem kTwoHeads{1, 3, 2, 1, DType::fp16, false};

TEST(ComparedElements, AreThoseOfTheHead) {
  const std::vector<std::uint16_t> elements{10, 20, 11, 21, 12, 22};
  EXPECT_THAT(compared_elements({kTwoHeads, 0}, TensorRole::o, elements), ElementsAre(10, 11, 12));
  EXPECT_THAT(compared_elements({kTwoHeads, 1}, TensorRole::o, elements), ElementsAre(20, 21, 22));
  EXPECT_EQ(compared_elements({kTwoHeads, {}}, TensorRole::o, elements), elements);
  EXPECT_EQ(compared_part({kTwoHeads, 1}).heads, 1);
}

TEST(EmulatedInputs, AHeadsReferenceIsThatPartOfTheWholesReference) {
  const Problem problem{1, 5, 3, 8, DType::bf16, true};
  EmulatedInputs inputs(7);
  const EmulatedInput& whole = inputs.of({problem, {}}).at(0);
  const EmulatedInput& head = inputs.of({problem, 2}).at(0);
  for (const auto& [role, tensor] : {std::pair{TensorRole::q, &HeadInputs::q},
                                     {TensorRole::k, &HeadInputs::k},
                                     {TensorRole::v, &HeadInputs::v}}) {
    EXPECT_EQ(compared_elements({problem, 2}, role, head.tensors.*tensor),
              compared_elements({problem, 2}, role, whole.tensors.*tensor));
  }
  ASSERT_EQ(head.exact.size(), 5U * 8U);
  for (std::size_t position = 0; position < 5; ++position) {
    for (std::size_t column = 0; column < 8; ++column) {
      const std::size_t at = (position * 3 + 2) * 8 + column;
      EXPECT_EQ(head.exact[position * 8 + column], whole.exact[at]);
      EXPECT_EQ(head.rounded[position * 8 + column], whole.rounded[at]);
    }
  }
}

TEST(EmulatedInputs, EachHeadHasInputsOfItsOwn) {
  const Problem problem{2, 4, 3, 8, DType::fp16, false};
  EmulatedInputs inputs(7);
  std::set<std::vector<std::uint16_t>> heads;
  for (const EmulatedInput& input : inputs.of({problem, {}})) {
    for (std::size_t number = 0; number < 6; ++number) {
      std::vector<std::uint16_t> head;
      for (std::size_t position = 0; position < 4; ++position) {
        const std::size_t row = (number / 3 * 4 + position) * 3 + number % 3;
        const auto first = input.tensors.q.begin() + static_cast<std::ptrdiff_t>(row * 8);
        head.insert(head.end(), first, first + 8);
      }
      heads.insert(head);
    }
  }
  EXPECT_EQ(heads.size(), input_kinds(problem).size() * 6);
}

TEST(EmulatedInputs, HeadsThatAreNotComparedAreAlikeAndDifferFromTheOneThatIs) {
  Problem problem{1, 5, 8, 8, DType::bf16, false};
  problem.kv_heads = 4;
  EmulatedInputs inputs(7);
  for (const auto& [compared, other] : {std::pair{0, 7}, {7, 0}}) {
    for (const EmulatedInput& input : inputs.of({problem, compared})) {
      const auto keys = [&](std::int64_t head) {
        return compared_elements({problem, head}, TensorRole::k, input.tensors.k);
      };
      EXPECT_NE(keys(compared), keys(other)) << input.name;
      EXPECT_EQ(keys(2), keys(4)) << input.name;
    }
  }
}

// The same values as in contiguous tensors, at other places.
TEST(EmulatedInputs, InPagesHaveTheReferencesOfContiguousOnes) {
  Problem problem{1, 2, 4, 8, DType::fp16, true};
  problem.kv_heads = 2;
  problem.seq_len_kv = 21;
  const EmulatedProblem contiguous{problem, {}};
  problem.page_size = 4;
  EmulatedInputs inputs(7);
  const EmulatedInput& of_contiguous = inputs.of(contiguous).at(0);
  const EmulatedInput& whole = inputs.of({problem, {}}).at(0);
  EXPECT_THAT(of_contiguous.tensors.page_table, testing::IsEmpty());
  EXPECT_EQ(whole.tensors.page_table, page_table(problem));
  EXPECT_EQ(whole.exact, of_contiguous.exact);
  EXPECT_EQ(whole.rounded, of_contiguous.rounded);
  const EmulatedInput& head = inputs.of({problem, 3}).at(0);
  EXPECT_EQ(compared_elements({problem, 3}, TensorRole::k, head.tensors.k),
            compared_elements({contiguous.problem, 3}, TensorRole::k, of_contiguous.tensors.k));
  EXPECT_EQ(compared_part({problem, 3}).page_size, 0);
  EXPECT_EQ(head.exact.size(), 2U * 8U);
  EXPECT_EQ(inputs.row_references({problem, {}}).at(0).limit,
            inputs.row_references(contiguous).at(0).limit);
}

// V is columns of K: there is no tensor for it, and the references are those of a V that has them.
TEST(EmulatedInputs, OfLatentProblemsHaveTheReferencesOfACopyOfTheValues) {
  Problem problem{2, 2, 4, 8, DType::fp16, true};
  problem.kv_heads = 2;
  problem.seq_len_kv = 21;
  problem.d_head_v = 5;
  problem.latent = true;
  for (const std::int64_t page_size : {0, 4}) {
    problem.page_size = page_size;
    EmulatedInputs inputs(7);
    const EmulatedInput& latent = inputs.of({problem, {}}).at(0);
    EXPECT_THAT(latent.tensors.v, testing::IsEmpty());
    Problem copied = problem;
    copied.latent = false;
    std::vector<double> values(static_cast<std::size_t>(tensor_elements(copied, TensorRole::v)));
    const std::vector<double> q = element_values(latent.tensors.q, problem.dtype);
    const std::vector<double> k = element_values(latent.tensors.k, problem.dtype);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = k[i / 5 * 8 + i % 5];
    }
    EXPECT_EQ(latent.exact, cpu_attention(copied, q, k, values));
    EXPECT_EQ(latent.rounded, cpu_rounded_attention(copied, q, k, values));
    Problem one = problem;
    one.batch = 1;
    const EmulatedInput& whole = inputs.of({one, {}}).at(0);
    const EmulatedInput& head = inputs.of({one, 3}).at(0);
    EXPECT_FALSE(compared_part({one, 3}).latent);
    const std::vector<double> expected = element_values(
        compared_elements({one, 3}, TensorRole::o,
                          mapped(whole.rounded,
                                 [&](double value) { return round_to_element(value, one.dtype); })),
        one.dtype);
    EXPECT_EQ(head.rounded, expected);
  }
}

// What is stored, times its scale, are the K and V of the references.
TEST(EmulatedInputs, OfEightBitsHaveTheReferencesOfTheScaledValues) {
  Problem problem{1, 2, 4, 8, DType::fp16, true};
  problem.kv_heads = 2;
  problem.seq_len_kv = 21;
  problem.kv_dtype = DType::e4m3;
  for (const KvScales scales : {KvScales::head, KvScales::token}) {
    problem.kv_scales = scales;
    EmulatedInputs inputs(7);
    const EmulatedInput& input = inputs.of({problem, {}}).at(0);
    const std::vector<float> of_keys =
        scales == KvScales::token ? input.tensors.v_scales : std::vector<float>();
    const auto scaled = [&](const std::vector<std::uint16_t>& elements,
                            const std::vector<float>& of) {
      std::vector<double> values = element_values(elements, problem.kv_dtype);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t row = i / 8;  // of (keys, heads)
        values[i] *= double{of[scales == KvScales::head ? row % 2 : row]};
      }
      return values;
    };
    Problem plain = problem;
    plain.kv_dtype = plain.dtype;
    plain.kv_scales = KvScales::tensor;
    const std::vector<double> q = element_values(input.tensors.q, plain.dtype);
    const std::vector<double> k = scaled(input.tensors.k, input.tensors.k_scales);
    const std::vector<double> v = scaled(input.tensors.v, input.tensors.v_scales);
    EXPECT_EQ(input.exact, cpu_attention(plain, q, k, v));
    EXPECT_EQ(input.rounded, cpu_rounded_attention(plain, q, k, v, {}, of_keys));
    EXPECT_EQ(input.rounded == cpu_rounded_attention(plain, q, k, v), of_keys.empty());
  }
}

// The same elements and scales as in contiguous tensors, at other places.
TEST(EmulatedInputs, OfEightBitsInPagesHaveTheReferencesOfTheirHeads) {
  Problem problem{1, 2, 4, 8, DType::bf16, false};
  problem.kv_heads = 2;
  problem.seq_len_kv = 21;
  problem.page_size = 4;
  problem.kv_dtype = DType::e5m2;
  for (const KvScales scales : {KvScales::tensor, KvScales::token, KvScales::page}) {
    problem.kv_scales = scales;
    EmulatedInputs inputs(7);
    const EmulatedInput& whole = inputs.of({problem, {}}).at(0);
    const EmulatedInput& head = inputs.of({problem, 3}).at(0);
    for (std::size_t row = 0; row < 2; ++row) {
      for (std::size_t column = 0; column < 8; ++column) {
        EXPECT_EQ(head.exact[row * 8 + column], whole.exact[(row * 4 + 3) * 8 + column]);
        EXPECT_EQ(head.rounded[row * 8 + column], whole.rounded[(row * 4 + 3) * 8 + column]);
      }
    }
  }
}

Problem all_eight_bits(KvScales scales) {
  Problem problem = changed({1, 5, 4, 8}, [](Problem& p) { p.dtype = DType::e4m3; });
  problem.kv_heads = 2;
  problem.causal = true;
  problem.seq_len_kv = 21;
  problem.kv_scales = scales;
  return problem;
}

/// What is stored times its scale. heads: of the tensor, with rows of 8 elements
std::vector<double> scaled_by_head(const std::vector<std::uint16_t>& elements,
                                   const std::vector<float>& scales, std::size_t heads) {
  std::vector<double> values = element_values(elements, DType::e4m3);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] *= double{scales[scales.size() == 1 ? 0 : i / 8 % heads]};
  }
  return values;
}

TEST(EmulatedInputs, OfEightBitsInAllTensorsHaveReferencesOfScaledElements) {
  for (const KvScales scales : {KvScales::tensor, KvScales::head}) {
    Problem problem = all_eight_bits(scales);
    for (const bool packed : {false, true}) {
      if (packed) {
        problem.batch = 3;
        problem.seq_lens = "5,0,2";
        problem.seq_lens_kv = "21,3,9";
      }
      EmulatedInputs inputs(7);
      const auto& of = inputs.of({problem, {}});
      for (std::size_t i = 0; i < of.size(); ++i) {
        const HeadInputs& tensors = of[i].tensors;
        ASSERT_EQ(tensors.q_scales.size(), scales == KvScales::head ? 4U : 1U);
        EXPECT_TRUE(std::ranges::all_of(tensors.q, [](auto bits) { return bits < 256; }));
        const std::vector<double> q = scaled_by_head(tensors.q, tensors.q_scales, 4);
        const std::vector<double> k = scaled_by_head(tensors.k, tensors.k_scales, 2);
        const std::vector<double> v = scaled_by_head(tensors.v, tensors.v_scales, 2);
        EXPECT_EQ(of[i].exact, cpu_attention(problem, q, k, v)) << of[i].name;
        EXPECT_EQ(of[i].rounded, cpu_rounded_attention(problem, q, k, v)) << of[i].name;
        const double norms = greatest_norm(q, 8);
        EXPECT_TRUE(std::isfinite(norms));
        EXPECT_GT(norms, 0.1);
      }
    }
  }
}

TEST(EmulatedInputs, OfEightBitsInAllTensorsHaveTheReferencesOfTheirHeads) {
  for (const KvScales scales : {KvScales::tensor, KvScales::head}) {
    const Problem problem = all_eight_bits(scales);
    EmulatedInputs inputs(7);
    const EmulatedInput& whole = inputs.of({problem, {}}).at(0);
    const EmulatedInput& head = inputs.of({problem, 3}).at(0);
    EXPECT_EQ(compared_part({problem, 3}).dtype, DType::e4m3);
    for (std::size_t row = 0; row < 5; ++row) {
      for (std::size_t column = 0; column < 8; ++column) {
        EXPECT_EQ(head.exact[row * 8 + column], whole.exact[(row * 4 + 3) * 8 + column]);
        EXPECT_EQ(head.rounded[row * 8 + column], whole.rounded[(row * 4 + 3) * 8 + column]);
      }
    }
  }
}

/// Two sequences of blocks that are full, and that are not.
Problem eight_bits_in_blocks() {
  Problem problem = all_eight_bits(KvScales::block);
  problem.batch = 2;
  problem.seq_len = 140;
  problem.seq_len_kv = 260;
  return problem;
}

/// What is stored times its scale, in a contiguous tensor of (sequences, rows, heads, 8).
std::vector<double> scaled_by_block(const std::vector<std::uint16_t>& elements,
                                    const std::vector<float>& scales, std::size_t rows,
                                    std::size_t heads) {
  std::vector<double> values = element_values(elements, DType::e4m3);
  const std::size_t blocks = (rows + 127) / 128;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / 8 / heads;
    values[i] *= double{scales[(row / rows * blocks + row % rows / 128) * heads + i / 8 % heads]};
  }
  return values;
}

TEST(EmulatedInputs, OfEightBitsInBlocksHaveReferencesOfScaledElements) {
  const Problem problem = eight_bits_in_blocks();
  EmulatedInputs inputs(7);
  for (const EmulatedInput& of : inputs.of({problem, {}})) {
    ASSERT_EQ(of.tensors.q_scales.size(), 2U * 2U * 4U);
    ASSERT_EQ(of.tensors.k_scales.size(), 2U * 3U * 2U);
    const std::vector<double> q = scaled_by_block(of.tensors.q, of.tensors.q_scales, 140, 4);
    const std::vector<double> k = scaled_by_block(of.tensors.k, of.tensors.k_scales, 260, 2);
    const std::vector<double> v = scaled_by_block(of.tensors.v, of.tensors.v_scales, 260, 2);
    EXPECT_EQ(of.exact, cpu_attention(problem, q, k, v)) << of.name;
    EXPECT_EQ(of.rounded, cpu_rounded_attention(problem, q, k, v)) << of.name;
  }
}

// Scales belong to the sequences' blocks, wherever their keys are.
TEST(EmulatedInputs, OfBlocksInPagesHaveTheReferencesOfContiguousOnes) {
  Problem problem = eight_bits_in_blocks();
  EmulatedInputs inputs(7);
  const EmulatedInput& contiguous = inputs.of({problem, {}}).at(0);
  problem.page_size = 16;
  const EmulatedInput& paged = inputs.of({problem, {}}).at(0);
  EXPECT_EQ(paged.tensors.k_scales, contiguous.tensors.k_scales);
  EXPECT_EQ(paged.exact, contiguous.exact);
  EXPECT_EQ(paged.rounded, contiguous.rounded);
}

TEST(EmulatedInputs, OfBlocksHaveTheReferencesOfTheirHeads) {
  Problem problem = eight_bits_in_blocks();
  problem.batch = 1;
  for (const std::int64_t page_size : {0, 16}) {
    problem.page_size = page_size;
    EmulatedInputs inputs(7);
    const EmulatedInput& whole = inputs.of({problem, {}}).at(0);
    const EmulatedInput& head = inputs.of({problem, 3}).at(0);
    for (const std::size_t row : {0U, 127U, 128U, 139U}) {
      for (std::size_t column = 0; column < 8; ++column) {
        EXPECT_EQ(head.exact[row * 8 + column], whole.exact[(row * 4 + 3) * 8 + column]);
        EXPECT_EQ(head.rounded[row * 8 + column], whole.rounded[(row * 4 + 3) * 8 + column]);
      }
    }
  }
}

// Each packed sequence has the references that it has alone, with its own blocks' scales.
TEST(EmulatedInputs, OfBlocksInAPackedBatchHaveReferencesOfTheirSequences) {
  Problem problem = eight_bits_in_blocks();
  problem.batch = 3;
  problem.seq_lens = "5,0,140";
  problem.seq_lens_kv = "21,3,260";
  EmulatedInputs inputs(7);
  const EmulatedInput& of = inputs.of({problem, {}}).at(0);
  Problem last = all_eight_bits(KvScales::block);
  last.seq_len = 140;
  last.seq_len_kv = 260;
  const auto behind = [](const auto& all, std::size_t count) {
    return std::vector(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  };
  const auto values = [&](const std::vector<std::uint16_t>& elements,
                          const std::vector<float>& scales, std::size_t rows, std::size_t heads) {
    const std::size_t blocks = (rows + 127) / 128;
    return scaled_by_block(behind(elements, elements.size() - rows * heads * 8),
                           behind(scales, 2 * blocks * heads), rows, heads);
  };
  const std::vector<double> q = values(of.tensors.q, of.tensors.q_scales, 140, 4);
  const std::vector<double> k = values(of.tensors.k, of.tensors.k_scales, 260, 2);
  const std::vector<double> v = values(of.tensors.v, of.tensors.v_scales, 260, 2);
  EXPECT_EQ(behind(of.exact, 5 * 4 * 8), cpu_attention(last, q, k, v));
}

/// The inputs of `outliers` before they are rounded, with two heads of keys of 21 keys each and
/// four queries, as (keys, heads, 8 columns).
struct Originals {
  explicit Originals(const Problem& problem) : q(5 * 4 * 8), k(21 * 2 * 8), v(k) {
    HeadProblem head;
    head.seq_len = 5, head.seq_len_kv = 21, head.d_head = head.d_head_v = 8;
    head.dtype = output_dtype(problem);
    for (std::size_t i = 0; i < 2; ++i) {
      const GroupInputs of = make_group_inputs(head, 2, InputKind::outliers, 7 + i * 1'000'003);
      put(of.q[0], head.dtype, 4, 2 * i, q);
      put(of.q[1], head.dtype, 4, 2 * i + 1, q);
      put(of.k, head.dtype, 2, i, k);
      put(of.v, head.dtype, 2, i, v);
    }
  }

  static void put(const std::vector<std::uint16_t>& rows, DType dtype, std::size_t heads,
                  std::size_t head, std::vector<double>& tensor) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      tensor[(i / 8 * heads + head) * 8 + i % 8] = element_value(rows[i], dtype);
    }
  }

  std::vector<double> q, k, v;
};

/// Which scale an element of a tensor of that many heads has.
std::size_t scale_of(KvScales scales, std::size_t heads, std::size_t element) {
  return scales == KvScales::tensor ? 0
         : scales == KvScales::head ? element / 8 % heads
                                    : element / 8;
}

void expect_fitted(const std::vector<double>& originals, KvScales sharing, std::size_t heads,
                   DType dtype, const std::vector<float>& scales,
                   const std::vector<std::uint16_t>& stored) {
  const double greatest_number = dtype == DType::e4m3 ? 448.0 : 57344.0;
  std::vector<double> greatest(scales.size(), 0.0);
  for (std::size_t i = 0; i < originals.size(); ++i) {
    double& of = greatest.at(scale_of(sharing, heads, i));
    of = std::max(of, std::abs(originals[i]));
  }
  for (std::size_t i = 0; i < scales.size(); ++i) {
    EXPECT_FLOAT_EQ(scales[i], static_cast<float>(greatest[i] / greatest_number));
  }
  for (std::size_t i = 0; i < originals.size(); ++i) {
    const double scale = double{scales[scale_of(sharing, heads, i)]};
    EXPECT_EQ(stored[i], round_to_element(originals[i] / scale, dtype)) << i;
  }
}

TEST(EmulatedInputs, OfOutliersHaveTheScalesOfADeployment) {
  for (const auto& [q, kv, sharing] : {std::tuple{DType::fp16, DType::e4m3, KvScales::token},
                                       {DType::bf16, DType::e5m2, KvScales::head},
                                       {DType::fp16, DType::e5m2, KvScales::tensor},
                                       {DType::e4m3, DType::e4m3, KvScales::head},
                                       {DType::e4m3, DType::e4m3, KvScales::tensor}}) {
    Problem problem = all_eight_bits(sharing);
    problem.dtype = q, problem.kv_dtype = kv;
    EmulatedInputs inputs(7);
    const EmulatedInput& input = inputs.of({problem, {}}).back();
    ASSERT_EQ(input.name, "outliers");
    const Originals originals(problem);
    expect_fitted(originals.k, sharing, 2, kv, input.tensors.k_scales, input.tensors.k);
    expect_fitted(originals.v, sharing, 2, kv, input.tensors.v_scales, input.tensors.v);
    if (has_query_scales(problem)) {
      expect_fitted(originals.q, sharing, 4, q, input.tensors.q_scales, input.tensors.q);
    }
    EXPECT_EQ(input.unrounded, cpu_attention(problem, originals.q, originals.k, originals.v));
    EXPECT_NE(input.unrounded, input.exact);
  }
}

// Pages of no sequence have a scale that can be divided by.
TEST(EmulatedInputs, OfOutliersInPagesAreThoseOfContiguousKeys) {
  Problem problem{1, 2, 4, 8, DType::bf16, false};
  problem.kv_heads = 2;
  problem.seq_len_kv = 21;
  problem.kv_dtype = DType::e5m2;
  problem.kv_scales = KvScales::token;
  EmulatedInputs inputs(7);
  const std::vector<double> contiguous = inputs.of({problem, {}}).back().unrounded;
  problem.page_size = 4;
  for (const KvScales scales : {KvScales::tensor, KvScales::token, KvScales::page}) {
    problem.kv_scales = scales;
    const EmulatedInput& whole = inputs.of({problem, {}}).back();
    EXPECT_EQ(whole.unrounded, contiguous);
    EXPECT_TRUE(std::ranges::all_of(whole.tensors.k_scales, [](float x) { return x > 0.0F; }));
    const EmulatedInput& head = inputs.of({problem, 3}).back();
    for (std::size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(head.unrounded[i], contiguous[(i / 8 * 4 + 3) * 8 + i % 8]);
    }
  }
}

TEST(EmulatedInputs, OnlyOutliersHaveAnUnroundedReference) {
  EmulatedInputs inputs(7);
  for (const EmulatedInput& input : inputs.of({all_eight_bits(KvScales::head), {}})) {
    EXPECT_EQ(input.unrounded.empty(), input.name != "outliers");
  }
}

TEST(EmulatedInputs, AreMadeOnce) {
  EmulatedInputs inputs(1);
  EXPECT_EQ(&inputs.of({kTwoHeads, 1}), &inputs.of({kTwoHeads, 1}));
  EXPECT_NE(&inputs.of({kTwoHeads, 1}), &inputs.of({kTwoHeads, {}}));
}

}  // namespace
}  // namespace fatune
