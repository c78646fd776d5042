// The parts of the example programs that decide whether a library's results are right.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "model/cpu_reference.hpp"
#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"
#include "model/problem.hpp"
#include "runtime/package/example/cases.hpp"
#include "runtime/package/example/reference.hpp"
#include "runtime/package/example/sha256.hpp"
#include "unit/runtime/sample_table.hpp"

namespace example {
namespace {

using fatune_attention::DType;
using fatune_attention::KvDType;
using fatune_attention::Problem;

fatune::DType same_type(DType dtype) { return static_cast<fatune::DType>(dtype); }

TEST(ExampleElements, AreThoseOfTheType) {
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    for (int i = -128; i <= 128; ++i) {
      const double value = 4.0 * i / 128.0;
      EXPECT_EQ(encode(dtype, value), fatune::round_to_element(value, same_type(dtype))) << value;
    }
    for (int bits = 0; bits < 65536; ++bits) {
      const double expected =
          fatune::element_value(static_cast<std::uint16_t>(bits), same_type(dtype));
      const double found = decode(dtype, static_cast<std::uint16_t>(bits));
      EXPECT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected))) << bits;
    }
  }
}

TEST(ExampleElements, HaveTheValuesOfTheirEightBits) {
  for (const KvDType dtype : {KvDType::e4m3, KvDType::e5m2}) {
    for (int bits = 0; bits < 256; ++bits) {
      const double expected = fatune::element_value(static_cast<std::uint16_t>(bits),
                                                    static_cast<fatune::DType>(dtype));
      if (std::isfinite(expected)) {
        EXPECT_EQ(decode(dtype, static_cast<std::uint8_t>(bits)), expected) << bits;
      }
    }
  }
}

TEST(ExampleSha256, GivesTheKnownHashes) {
  const auto hash_of = [](const std::string& text) {
    return sha256_of(reinterpret_cast<const unsigned char*>(text.data()), text.size());
  };
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

std::vector<std::int64_t> as_fatune(const std::vector<std::int32_t>& lengths) {
  return {lengths.begin(), lengths.end()};
}

fatune::Problem same_problem(const Problem& p, Layout layout) {
  fatune::Problem same{p.batch, p.seq_len, p.heads, p.d_head, same_type(p.dtype), p.causal};
  same.seq_len_kv = p.seq_len_kv;
  same.kv_heads = p.kv_heads;
  same.d_head_v = p.d_head_v;
  same.window = p.window;
  same.softcap = p.softcap;
  same.sinks = p.has_sinks;
  if (p.has_seq_lens_kv) {
    same = with_kv_lengths(same, as_fatune(sequences_of(p).keys));
  }
  if (p.is_packed) {
    same = with_query_lengths(same, as_fatune(sequences_of(p).queries));
    same = with_kv_lengths(same, as_fatune(sequences_of(p).keys));
  }
  same.page_size = p.page_size;
  if (fatune_attention::detail::has_scales(p)) {
    same.kv_dtype = static_cast<fatune::DType>(p.kv_dtype);
    same.kv_scales = static_cast<fatune::KvScales>(p.kv_scales);
  }
  if (p.softmax_scale > 0.0F) {
    same.softmax_scale = p.softmax_scale;
  }
  same.layout = layout == Layout::bhsd ? fatune::Layout::bhsd : fatune::Layout::bshd;
  return same;
}

/// Multiplies the elements of K or V by their scales. Pools of fatune have other sizes.
void scale(const fatune::Problem& problem, Scaled tensor, std::vector<double>& values) {
  const fatune::TensorShape of = scale_shape(problem);
  const fatune::TensorShape shape =
      tensor_shape(problem, tensor == Scaled::k ? fatune::TensorRole::k : fatune::TensorRole::v);
  for (std::int64_t i = 0; i < shape.batch * shape.rows * shape.heads; ++i) {
    const std::int64_t batch = i / shape.rows / shape.heads;
    const std::int64_t row = i / shape.heads % shape.rows;
    const std::int64_t head = i % shape.heads;
    const float one = scale_at(tensor, of.row_offset(batch, row, head));
    const std::int64_t first = shape.row_offset(batch, row, head);
    for (std::int64_t column = 0; column < shape.columns; ++column) {
      values[static_cast<std::size_t>(first + column)] *= static_cast<double>(one);
    }
  }
}

std::vector<double> values(const Elements& elements, std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(*elements.row(i));
  }
  return values;
}

/// Expects the example's reference to equal fatune's in every row. The tensors must be contiguous.
void expect_as_fatune(const Case& one, const Inputs& inputs) {
  using fatune::TensorRole;
  const Problem& p = one.problem;
  const fatune::Problem same = same_problem(p, one.layout);
  Sequences sequences = sequences_of(p);
  if (has_pages(same)) {
    sequences.pages = fatune::page_table(same);
  }
  const auto q = values(inputs.q, tensor_elements(same, TensorRole::q));
  auto k = values(inputs.k, tensor_elements(same, TensorRole::k));
  auto v = values(inputs.v, tensor_elements(same, TensorRole::v));
  if (has_scales(same)) {
    scale(same, Scaled::k, k);
    scale(same, Scaled::v, v);
    if (p.page_size == 0) {
      ASSERT_EQ(scales_of(p, Scaled::k).size(), scale_shape(same).elements()) << text_of(one);
    }
  }
  const std::vector<float> sinks = p.has_sinks ? sinks_of(p) : std::vector<float>{};
  const std::vector<double> o = cpu_attention(same, q, k, v, sinks);
  const std::vector<double> lse = cpu_log_sum_exp(same, q, k, sinks);
  const fatune_attention::Tensors tensors = strides_of(one);
  const Reference reference(p, tensors, inputs, sequences);
  const fatune_attention::detail::Extents extents = fatune_attention::detail::extents_of(p)[3];
  for (std::int64_t i = 0; i < fatune::output_rows(same); ++i) {
    const RowPlace at{i / extents.rows / p.heads, i / extents.rows % p.heads, i % extents.rows};
    const ReferenceRow row = reference.row(at);
    const auto first = static_cast<std::size_t>(index_of(tensors.o, at));
    for (std::size_t j = 0; j < row.o.size(); ++j) {
      ASSERT_NEAR(row.o[j], o[first + j], 1e-6) << text_of(one) << " row " << i;
    }
    const double expected = lse[static_cast<std::size_t>(i)];
    ASSERT_TRUE(row.lse == expected || std::abs(row.lse - expected) < 1e-5) << text_of(one);
  }
}

TEST(ExampleReference, ComputesWhatFatunesDoes) {
  Problem like = fatune_attention::tuned_problem();
  like.d_head = 16;
  like.d_head_v = 8;
  const Inputs inputs{Elements(like.dtype, 4.0, 1), Elements(like.dtype, 1.0, 2),
                      Elements(like.dtype, 1.0, 3)};
  int compared = 0;
  for (Case one : small_cases(like)) {
    one.problem.batch = one.problem.has_seq_lens_kv ? 5 : 1;
    one.problem.heads = one.problem.heads / one.problem.kv_heads * 2;
    one.problem.kv_heads = 2;
    one.problem.seq_len = std::min<std::int64_t>(one.problem.seq_len, 120);
    one.problem.seq_len_kv = std::min<std::int64_t>(one.problem.seq_len_kv, 130);
    if (one.layout != Layout::padded) {
      one.problem.softcap = compared % 3 == 0 ? 2.0F : 0.0F;
      one.problem.has_sinks = compared % 2 == 0;
      expect_as_fatune(one, inputs);
      ++compared;
    }
  }
  EXPECT_GT(compared, 10);
  for (Case one : served_cases(like)) {
    one = tiny(one);
    one.problem.softcap = compared % 3 == 0 ? 2.0F : 0.0F;
    one.problem.has_sinks = compared % 2 == 0;
    expect_as_fatune(one, inputs);
    ++compared;
  }
  EXPECT_GT(compared, 60);
}

TEST(ExampleReference, ScalesElementsOfEightBitsAsFatunesDoes) {
  using fatune_attention::KvScales;
  Problem like = fatune_attention::tuned_problem();
  like.d_head = 16;
  like.d_head_v = 8;
  like.kv_dtype = KvDType::e4m3;
  const Inputs inputs{Elements(like.dtype, 4.0, 1), Elements(like.kv_dtype, 2),
                      Elements(like.kv_dtype, 3)};
  for (const KvScales scales :
       {KvScales::tensor, KvScales::head, KvScales::token, KvScales::page}) {
    like.kv_scales = scales;
    for (const std::int64_t page_size : {0, 8}) {
      for (Case one : served_cases(like, page_size)) {
        one = tiny(one);
        one.problem.kv_heads = 2;
        one.problem.heads = 4;
        if (page_size > 0 || scales != KvScales::page) {
          expect_as_fatune(one, inputs);
        }
      }
    }
  }
}

/// A table for sequences names each page at most once, and none behind a sequence's last key.
TEST(ExamplePages, AreOfOneSequenceEach) {
  Problem problem = fatune_attention::tuned_problem();
  problem.batch = 4;
  problem.seq_len_kv = 64;
  problem.page_size = 8;
  problem.has_seq_lens_kv = true;
  problem = with_totals(problem);
  const Sequences sequences = sequences_of(problem);
  std::set<std::int32_t> named;
  for (std::size_t i = 0; i < sequences.pages.size(); ++i) {
    const bool is_page = sequences.pages[i] < problem.pool_pages;
    EXPECT_EQ(is_page, static_cast<std::int32_t>(i % 8 * 8) < sequences.keys[i / 8]);
    EXPECT_TRUE(!is_page || named.insert(sequences.pages[i]).second);
  }
  EXPECT_EQ(named.size(), 6U + 8U + 0U + 1U);
}

}  // namespace
}  // namespace example
