// Problems whose K and V, or Q, K and V, have 8 bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "model/cpu_reference.hpp"
#include "model/error_rule.hpp"
#include "model/flop.hpp"
#include "model/input_kind.hpp"
#include "model/problem.hpp"
#include "model/quantization_error.hpp"
#include "model/record_json.hpp"
#include "model/scale_rows.hpp"
#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

Problem eight_bit_problem() {
  Problem problem{2, 1, 16, 64, DType::bf16, false};
  problem.kv_heads = 4;
  problem.seq_len_kv = 100;
  problem.kv_dtype = DType::e4m3;
  return problem;
}

/// Q, K and V of 8 bits.
Problem all_eight_bits() {
  return changed({2, 1, 16, 64, DType::fp16, false}, [](Problem& p) { p.dtype = DType::e4m3; });
}

TEST(EightBitProblems, AreNamed) {
  Problem problem = eight_bit_problem();
  EXPECT_EQ(describe(problem), "b2 s1 h16 d64 BF16 kv100 hkv4 kvE4M3");
  problem.kv_scales = KvScales::token;
  EXPECT_EQ(describe(problem), "b2 s1 h16 d64 BF16 kv100 hkv4 kvE4M3 scales/token");
  EXPECT_THAT(option_text(problem), testing::HasSubstr(" --kv-dtype E4M3 --kv-scales token"));
  EXPECT_EQ(read_record<Problem>(record_json(problem)), problem);
  EXPECT_NO_THROW(check_problem(problem));
}

TEST(EightBitProblems, HaveTheTypeOfQWithoutABetterWord) {
  const auto bf16 = changed({1, 1, 1, 64}, [](Problem& p) { p.dtype = DType::bf16; });
  EXPECT_EQ(bf16.kv_dtype, DType::bf16);
  auto record = record_json(bf16);
  record.erase("kv_dtype");
  EXPECT_EQ(read_record<Problem>(record), bf16);
}

TEST(EightBitProblems, HaveScalesThatFit) {
  const auto expect_refused = [](auto change, const std::string& why) {
    Problem problem = eight_bit_problem();
    change(problem);
    fixtures::expect_error([&] { check_problem(problem); }, ExitCode::usage, {why});
  };
  expect_refused([](Problem& p) { p.kv_dtype = DType::fp16; }, "K and V are FP16 and Q is BF16");
  expect_refused([](Problem& p) { p.kv_dtype = p.dtype, p.kv_scales = KvScales::head; },
                 "K and V in BF16 have no scales");
  expect_refused([](Problem& p) { p.kv_scales = KvScales::page; }, "not in pages");
  expect_refused([](Problem& p) { p.kv_scales = KvScales::block; },
                 "scales of blocks need Q of 8 bits");
  expect_refused([](Problem& p) { p.latent = true; }, "V within K cannot have 8 bits");
  fixtures::expect_error([] { (void)find_detail("kv_scales").parse_name("row"); }, ExitCode::usage,
                         {"'row'", "tensor, head, token, page, block"});
}

TEST(EightBitQueries, AreNamed) {
  Problem problem = all_eight_bits();
  problem.kv_scales = KvScales::head;
  EXPECT_EQ(describe(problem), "b2 s1 h16 d64 E4M3 scales/head");
  EXPECT_THAT(option_text(problem), testing::HasSubstr("--dtype E4M3 --kv-scales head"));
  EXPECT_EQ(read_record<Problem>(record_json(problem)), problem);
  EXPECT_EQ(parse_dtype("e4m3"), DType::e4m3);
  fixtures::expect_error([] { (void)parse_dtype("e5m2"); }, ExitCode::usage,
                         {"'e5m2'", "fp16, bf16 or e4m3"});
}

TEST(EightBitQueries, HaveKeysOfTheirTypeAndScalesThatFit) {
  EXPECT_NO_THROW(check_problem(all_eight_bits()));
  EXPECT_EQ(all_eight_bits().kv_dtype, DType::e4m3);
  const auto expect_refused = [](auto change, const std::string& why) {
    Problem problem = all_eight_bits();
    change(problem);
    fixtures::expect_error([&] { check_problem(problem); }, ExitCode::usage, {why});
  };
  expect_refused([](Problem& p) { p.kv_dtype = DType::e5m2; }, "K and V are E5M2 and Q is E4M3");
  expect_refused([](Problem& p) { p.kv_dtype = DType::bf16; }, "K and V are BF16 and Q is E4M3");
  expect_refused([](Problem& p) { p.dtype = p.kv_dtype = DType::e5m2; }, "Q cannot be E5M2");
  expect_refused([](Problem& p) { p.kv_scales = KvScales::token; },
                 "scales of keys need Q of 16 bits");
  expect_refused([](Problem& p) { p.kv_scales = KvScales::page, p.page_size = 16; },
                 "scales of keys need Q of 16 bits");
  expect_refused([](Problem& p) { p.latent = true; }, "V within K cannot have 8 bits");
}

TEST(EightBitQueries, HaveAnOutputOf16Bits) {
  const Problem problem = all_eight_bits();
  EXPECT_EQ(dtype_of(problem, TensorRole::q), DType::e4m3);
  EXPECT_EQ(dtype_of(problem, TensorRole::o), DType::bf16);
  EXPECT_EQ(tensor_bytes(problem, TensorRole::q), 2 * 16 * 64);
  EXPECT_EQ(tensor_bytes(problem, TensorRole::o), 2 * tensor_bytes(problem, TensorRole::q));
  EXPECT_EQ(needed_output_bytes(problem), tensor_bytes(problem, TensorRole::o));
}

TEST(EightBitQueries, HaveAScaleForEachOfTheirHeads) {
  Problem problem = all_eight_bits();
  problem.kv_heads = 4;
  EXPECT_EQ(scale_shape(problem, TensorRole::q).elements(), 1);
  EXPECT_EQ(scale_shape(problem, TensorRole::q).row_offset(1, 5, 7), 0);
  problem.kv_scales = KvScales::head;
  EXPECT_EQ(scale_shape(problem, TensorRole::q).elements(), 16);
  EXPECT_EQ(scale_shape(problem, TensorRole::q).row_offset(1, 5, 7), 7);
  EXPECT_EQ(scale_shape(problem, TensorRole::v).elements(), 4);
  EXPECT_EQ(make_scales(problem, TensorRole::q, InputKind::normal).size(), 16U);
}

/// Two sequences with two blocks of queries, and three of keys.
Problem eight_bits_in_blocks() {
  Problem problem = all_eight_bits();
  problem.seq_len = 129;
  problem.seq_len_kv = 384;
  problem.kv_heads = 4;
  problem.kv_scales = KvScales::block;
  return problem;
}

TEST(EightBitQueries, MayHaveAScaleForEachBlockOfAHead) {
  Problem problem = eight_bits_in_blocks();
  EXPECT_NO_THROW(check_problem(problem));
  EXPECT_EQ(describe(problem), "b2 s129 h16 d64 E4M3 kv384 hkv4 scales/block");
  EXPECT_EQ(read_record<Problem>(record_json(problem)), problem);
  EXPECT_FALSE(keys_have_scales(problem));
  EXPECT_EQ(scale_shape(problem, TensorRole::q).elements(), 2 * 2 * 16);
  EXPECT_EQ(scale_shape(problem, TensorRole::v).elements(), 2 * 3 * 4);
  const ScaleRows queries(problem, TensorRole::q);
  EXPECT_EQ(queries.offset(0, 127, 5), 5);
  EXPECT_EQ(queries.offset(1, 128, 5), (1 * 2 + 1) * 16 + 5);
  const ScaleRows keys(problem, TensorRole::k);
  EXPECT_EQ(keys.offset(1, 255, 3), (1 * 3 + 1) * 4 + 3);
  problem.page_size = 16;  // blocks are those of the sequence
  EXPECT_EQ(scale_shape(problem).elements(), 2 * 3 * 4);
  EXPECT_EQ(ScaleRows(problem, TensorRole::k).offset(1, 256, 3), (1 * 3 + 2) * 4 + 3);
}

// Each sequence has as many blocks as the longest, and begins with one of its own.
TEST(EightBitQueries, HaveBlocksOfTheirOwnSequenceInAPackedBatch) {
  Problem problem = eight_bits_in_blocks();
  problem.batch = 3;
  problem.seq_lens = "100,0,129";
  problem.seq_lens_kv = "384,7,130";
  check_problem(problem);
  EXPECT_EQ(scale_shape(problem, TensorRole::q).elements(), 3 * 2 * 16);
  const ScaleRows queries(problem, TensorRole::q);
  EXPECT_EQ(queries.offset(0, 99, 1), 1);
  EXPECT_EQ(queries.offset(0, 100, 1), 2 * 2 * 16 + 1);
  EXPECT_EQ(queries.offset(0, 100 + 128, 1), (2 * 2 + 1) * 16 + 1);
  const ScaleRows keys(problem, TensorRole::v);
  EXPECT_EQ(keys.offset(0, 384 + 6, 2), 1 * 3 * 4 + 2);
  EXPECT_EQ(keys.offset(0, 384 + 7 + 128, 2), (2 * 3 + 1) * 4 + 2);
}

TEST(EightBitProblems, TakeHalfOfTheBytes) {
  const Problem problem = eight_bit_problem();
  Problem sixteen = problem;
  sixteen.kv_dtype = sixteen.dtype;
  EXPECT_EQ(2 * tensor_bytes(problem, TensorRole::k), tensor_bytes(sixteen, TensorRole::k));
  EXPECT_EQ(tensor_bytes(problem, TensorRole::q), tensor_bytes(sixteen, TensorRole::q));
  const std::int64_t keys = 2 * 100 * 4;
  EXPECT_EQ(needed_input_bytes(sixteen) - needed_input_bytes(problem), keys * 2 * 64);
  Problem scaled = problem;
  scaled.kv_scales = KvScales::token;
  EXPECT_EQ(needed_input_bytes(scaled) - needed_input_bytes(problem), keys * 2 * 4);
}

TEST(EightBitProblems, HaveAScaleForWhatSharesIt) {
  Problem problem = eight_bit_problem();
  problem.page_size = 16;
  const TensorShape pool = tensor_shape(problem, TensorRole::k);
  const std::map<KvScales, std::int64_t> expected{{KvScales::tensor, 1},
                                                  {KvScales::head, 4},
                                                  {KvScales::token, pool.batch * 16 * 4},
                                                  {KvScales::page, pool.batch * 4}};
  for (const auto& [scales, count] : expected) {
    problem.kv_scales = scales;
    const TensorShape shape = scale_shape(problem);
    EXPECT_EQ(shape.elements(), count);
    std::set<std::int64_t> places;
    for (std::int64_t page = 0; page < pool.batch; ++page) {
      for (std::int64_t row = 0; row < 16; ++row) {
        for (std::int64_t head = 0; head < 4; ++head) {
          places.insert(shape.row_offset(page, row, head));
        }
      }
    }
    EXPECT_EQ(std::ssize(places), count);
    EXPECT_EQ(*places.rbegin(), count - 1);
    EXPECT_EQ(std::ssize(make_scales(problem, TensorRole::v, InputKind::normal)), count);
  }
}

// With one key P is 1. 1.75 times the scale rounds to one unit above 1.75, and 1.75 times the
// rounded scale to two. The greater scale times 1 would be infinity.
TEST(EightBitReference, RoundsProbabilitiesTimesTheScalesOfKeys) {
  const Problem problem{1, 1, 1, 1, DType::fp16, false};
  const double unit = std::ldexp(1.0, -10);
  const std::vector<double> one{1.0};
  for (const int power : {0, 20}) {
    const std::vector<float> scale{static_cast<float>(std::ldexp(1.0 + 0.75 * unit, power))};
    const double stored = std::ldexp(1.75, -power);
    const std::vector<double> v{stored * double{scale[0]}};
    EXPECT_EQ(cpu_attention(problem, one, one, v), v);
    EXPECT_EQ(cpu_rounded_attention(problem, one, one, v), (std::vector{1.75 + unit}));
    EXPECT_EQ(cpu_rounded_attention(problem, one, one, v, {}, scale),
              (std::vector{1.75 + 2 * unit}));
  }
}

// Head 0 sees key 0, whose scale there is no power of two; head 1 sees key 1, whose scale there is
// one.
TEST(EightBitReference, TakesTheScaleOfTheHeadOfTheKey) {
  Problem problem{1, 1, 2, 1, DType::fp16, false};
  problem.seq_len_kv = 2;
  const double unit = std::ldexp(1.0, -10);
  const double scale = 1.0 + 0.75 * unit;
  const std::vector<double> q{100.0, 100.0};
  const std::vector<double> k{1.0, 0.0, 0.0, 1.0};
  const std::vector<double> v{1.75 * scale, 7.0, 7.0, 1.75 * scale};
  const std::vector<float> scales{static_cast<float>(scale), 1.0F, 4.0F, 0.5F};
  EXPECT_EQ(cpu_rounded_attention(problem, q, k, v, {}, scales),
            (std::vector{1.75 + 2 * unit, 1.75 + unit}));
}

// Scores 0 and log(0.7): 256 * 0.7 = 179.2 becomes 176. The sum is not rounded, and O is a bf16.
// Exponentials are relative to a power of two: the same scores, all a tenth greater, are rounded
// differently.
TEST(EightBitReference, HasExponentialsRelativeToAPowerOfTwo) {
  Problem problem = changed({1, 1, 1, 1}, [](Problem& p) { p.dtype = DType::e4m3; });
  problem.seq_len_kv = 2;
  const std::vector<double> k{0.1, 0.1 + std::log(0.7)};
  // 256 exp(0.1) / 2 = 141.5, and 0.7 times it 99.0.
  EXPECT_EQ(cpu_rounded_attention(problem, std::vector{1.0}, k, std::vector{0.0, 1.0}).at(0),
            element_value(round_to_element(96.0 / 240.0, DType::bf16), DType::bf16));
}

TEST(EightBitReference, RoundsExponentialsToUnitsOfTheGreatest) {
  Problem problem = changed({1, 1, 1, 1}, [](Problem& p) { p.dtype = DType::e4m3; });
  problem.seq_len_kv = 2;
  const std::vector<double> q{1.0};
  const std::vector<double> k{0.0, std::log(0.7)};
  const std::vector<double> v{0.0, 1.0};
  const auto bf16 = [](double value) {
    return element_value(round_to_element(value, DType::bf16), DType::bf16);
  };
  EXPECT_NEAR(cpu_attention(problem, q, k, v).at(0), 0.7 / 1.7, 1e-12);
  EXPECT_EQ(cpu_rounded_attention(problem, q, k, v).at(0), bf16(176.0 / 432.0));
  // The sink counts in the sum. If it were the greatest score, 256 exp(-3) would become 13.
  EXPECT_EQ(cpu_rounded_attention(problem, q, k, v, std::vector{3.0F}).at(0),
            bf16(176.0 / (432.0 + 256.0 * std::exp(3.0))));
  EXPECT_EQ(cpu_rounded_attention(problem, q, k, v, std::vector{1e4F}).at(0), 0.0);
}

// Values from the OCP specification of 8-bit floating point.
TEST(EightBitElements, HaveTheValuesOfTheirFormats) {
  EXPECT_EQ(element_value(0x7e, DType::e4m3), 448.0);
  EXPECT_EQ(element_value(0x01, DType::e4m3), std::ldexp(1.0, -9));
  EXPECT_EQ(element_value(0x88, DType::e4m3), -std::ldexp(1.0, -6));
  EXPECT_TRUE(std::isnan(element_value(0x7f, DType::e4m3)));
  EXPECT_TRUE(std::isnan(element_value(0xff, DType::e4m3)));
  EXPECT_EQ(element_value(0x7b, DType::e5m2), 57344.0);
  EXPECT_EQ(element_value(0x01, DType::e5m2), std::ldexp(1.0, -16));
  EXPECT_TRUE(std::isinf(element_value(0xfc, DType::e5m2)));
  EXPECT_TRUE(std::isnan(element_value(0x7d, DType::e5m2)));
}

TEST(EightBitElements, AreRoundedToTheNearestAndNeverToInfinity) {
  for (const DType dtype : {DType::e4m3, DType::e5m2}) {
    for (std::uint16_t bits = 0; bits < 256; ++bits) {
      const double value = element_value(bits, dtype);
      if (std::isfinite(value)) {
        EXPECT_EQ(round_to_element(value, dtype), bits);
      }
    }
    EXPECT_TRUE(std::isnan(element_value(round_to_element(NAN, dtype), dtype)));
  }
  EXPECT_EQ(round_to_element(1.0625, DType::e4m3), 0x38);  // a tie: the even one, 1.0
  EXPECT_EQ(round_to_element(1.1875, DType::e4m3), 0x3a);  // a tie: 1.25
  EXPECT_EQ(round_to_element(463.0, DType::e4m3), 0x7e);
  EXPECT_EQ(round_to_element(1e30, DType::e4m3), 0x7e);
  EXPECT_EQ(round_to_element(-INFINITY, DType::e4m3), 0xfe);
  EXPECT_EQ(round_to_element(61440.0, DType::e5m2), 0x7b);
  EXPECT_EQ(round_to_element(std::ldexp(1.0, -11), DType::e4m3), 0x00);
}

// One column in 32 is 16 times as great, and where Q or K has its outliers the other one is small.
TEST(Outliers, AreInAFewColumns) {
  HeadProblem head;
  head.seq_len = head.seq_len_kv = 2000;
  head.d_head = head.d_head_v = 64;
  const HeadInputs inputs = make_head_inputs(head, InputKind::outliers, 1);
  const auto expect_sizes = [&](const std::vector<std::uint16_t>& tensor, std::size_t outlier,
                                std::optional<std::size_t> small) {
    for (std::size_t column = 0; column < 64; ++column) {
      double squares = 0.0;
      for (std::size_t at = column; at < tensor.size(); at += 64) {
        squares += std::pow(element_value(tensor[at], head.dtype), 2.0);
      }
      const double size = column % 32 == outlier ? 16.0 : column % 32 == small ? 0.0625 : 1.0;
      EXPECT_NEAR(std::sqrt(squares / 2000.0), size, 0.08 * size) << column;
    }
  };
  expect_sizes(inputs.q, 6, 3);
  expect_sizes(inputs.k, 3, 6);
  expect_sizes(inputs.v, 5, std::nullopt);
}

TEST(Outliers, AreOfProblemsWithEightBitsAlone) {
  Problem problem = eight_bit_problem();
  EXPECT_EQ(input_kinds(problem).back(), InputKind::outliers);
  EXPECT_EQ(probe_kinds(problem).size(), kMostProbeKinds);
  EXPECT_EQ(input_kinds(all_eight_bits()).back(), InputKind::outliers);
  problem.kv_dtype = problem.dtype;
  EXPECT_EQ(input_kinds(problem).back(), InputKind::large_values);
}

TEST(FittedScales, StoreTheGreatestAsTheGreatestNumber) {
  for (const auto& [dtype, greatest] : {std::pair{DType::e4m3, 448.0F}, {DType::e5m2, 57344.0F}}) {
    Problem problem = eight_bit_problem();
    problem.kv_dtype = dtype;
    std::vector<float> scales = make_scales(problem, TensorRole::k, InputKind::outliers);
    ASSERT_EQ(scales.size(), 1U);
    EXPECT_GT(scales[0], 0.0F);
    EXPECT_LT(scales[0], 1e-6F);
    for (const double value : {0.5, -7.0, 3.0}) {
      fit_scale(problem, value, scales[0]);
    }
    EXPECT_FLOAT_EQ(scales[0], 7.0F / greatest);
  }
}

TEST(QuantizationError, IsThatOfAllFiniteElements) {
  const std::vector<double> output{1.0, -2.0, 4.0, std::nan(""), 0.0};
  std::vector<std::uint16_t> bits;
  for (const double value : output) {
    bits.push_back(round_to_element(value, DType::bf16));
  }
  const std::vector<double> unrounded{1.5, -2.0, 3.0, 8.0, 0.25};
  const QuantizationSums sums = compare_unrounded(bits, DType::bf16, unrounded);
  EXPECT_EQ(sums.squared_error, 0.25 + 1.0 + 0.0625);
  EXPECT_EQ(sums.squared, 2.25 + 4.0 + 9.0 + 0.0625);
  EXPECT_EQ(sums.max_abs_error, 1.0);
  ErrorStats stats;
  EXPECT_FALSE(record_json(stats).contains("quantization_rms_percent"));
  set_quantization_error({}, stats);
  EXPECT_FALSE(stats.quantization_rms_percent);
  set_quantization_error({0.04, 4.0, 0.125}, stats);
  EXPECT_DOUBLE_EQ(*stats.quantization_rms_percent, 10.0);
  EXPECT_EQ(stats.quantization_max_abs_error, 0.125);
  const auto read = read_record<ErrorStats>(record_json(stats));
  EXPECT_EQ(read.quantization_rms_percent, stats.quantization_rms_percent);
  EXPECT_EQ(read.quantization_max_abs_error, stats.quantization_max_abs_error);
}

// A column of outliers counts as any other: its errors are divided by 16.
TEST(QuantizationError, IsInUnitsOfColumns) {
  Problem problem = eight_bit_problem();
  problem.d_head_v = 8;
  EXPECT_TRUE(column_units(problem, InputKind::normal).empty());
  const std::vector<double> units = column_units(problem, InputKind::outliers);
  EXPECT_EQ(units, (std::vector<double>{1, 1, 1, 1, 1, 16, 1, 1}));
  std::vector<double> exact(16, 1.0);
  exact[5] = exact[13] = 16.0;
  std::vector<std::uint16_t> output;
  for (const double value : exact) {
    output.push_back(round_to_element(value + (value > 1.0 ? 2.0 : 0.0), DType::bf16));
  }
  const QuantizationSums sums = compare_unrounded(output, DType::bf16, exact, units);
  EXPECT_EQ(sums.squared, 16.0);
  EXPECT_EQ(sums.squared_error, 2 * 0.125 * 0.125);
  EXPECT_EQ(sums.max_abs_error, 0.125);
  const ErrorStats stats = compare_outputs("outliers", problem, output, exact, exact, units);
  EXPECT_EQ(stats.max_abs_error, 0.125);
  EXPECT_EQ(stats.max_abs_difference, 0.125);
  EXPECT_EQ(stats.limit, 0x1p-7) << "the unit in the last place of 1";
  EXPECT_TRUE(find_fault(stats));
}

}  // namespace
}  // namespace fatune
