#include "runtime/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "model/problem.hpp"
#include "unit/runtime/sample_table.hpp"

namespace fatune_attention::detail {
namespace {

using testing::HasSubstr;
using testing::IsNull;

static_assert(kMostSeqLen == fatune::kMostSeqLen);
static_assert(kMostHeadDim == fatune::kMostHeadDim);
static_assert(kMostPageSize == fatune::kMostPageSize);

Tensors tensors_of(const Problem& problem) {
  Tensors tensors = usual_tensors(problem);
  for (Tensor* tensor : {&tensors.q, &tensors.k, &tensors.v, &tensors.o}) {
    tensor->data = reinterpret_cast<void*>(0x1000);
  }
  return tensors;
}

struct Wrong {
  std::function<void(Problem&)> change;
  const char* fault;
};

TEST(ArgumentChecks, NameWhatIsWrongWithAProblem) {
  const Wrong wrongs[] = {{[](Problem& p) { p.dtype = static_cast<DType>(7); }, "dtype"},
                          {[](Problem& p) { p.batch = 0; }, "batch"},
                          {[](Problem& p) { p.batch = 65536; }, "batch"},
                          {[](Problem& p) { p.heads = 0; }, "heads"},
                          {[](Problem& p) { p.kv_heads = 0; }, "kv_heads"},
                          {[](Problem& p) { p.kv_heads = 3; }, "kv_heads does not divide heads"},
                          {[](Problem& p) { p.kv_heads = 32; }, "kv_heads does not divide heads"},
                          {[](Problem& p) { p.seq_len = 0; }, "seq_len is"},
                          {[](Problem& p) { p.seq_len_kv = kMostSeqLen + 1; }, "seq_len_kv"},
                          {[](Problem& p) { p.d_head = -1; }, "d_head is"},
                          {[](Problem& p) { p.d_head_v = 1025; }, "d_head_v"},
                          {[](Problem& p) { p.window = -1; }, "window"},
                          {[](Problem& p) { p.softmax_scale = -1.0F; }, "softmax_scale"},
                          {[](Problem& p) { p.softmax_scale = std::nanf(""); }, "softmax_scale"}};
  for (const Wrong& wrong : wrongs) {
    Problem problem = tuned_problem();
    wrong.change(problem);
    ASSERT_NE(fault_of(problem), nullptr) << wrong.fault;
    EXPECT_THAT(fault_of(problem), HasSubstr(wrong.fault));
  }
  EXPECT_THAT(fault_of(tuned_problem()), IsNull());
}

struct WrongTensors {
  std::function<void(Tensors&)> change;
  const char* fault;
};

TEST(ArgumentChecks, NameWhatIsWrongWithTensors) {
  const WrongTensors wrongs[] = {
      {[](Tensors& t) { t.k.data = nullptr; }, "a tensor is null"},
      {[](Tensors& t) { t.o.data = reinterpret_cast<void*>(0x1008); }, "16-byte aligned"},
      {[](Tensors& t) { t.v.row_stride = 2052; }, "multiple of 16 bytes"},
      {[](Tensors& t) { t.q.head_stride = 120; }, "less than a row"},
      {[](Tensors& t) { t.q.batch_stride = 0; }, "less than a row"},
      {[](Tensors& t) { t.q.batch_stride = -2048; }, "less than a row"},
      {[](Tensors& t) { t.q.batch_stride = std::int64_t{1} << 39; }, "not below 2^40 bytes"},
      {[](Tensors& t) { t.q.batch_stride = std::int64_t{1} << 62; }, "not below 2^40 bytes"}};
  const Problem problem = tuned_problem();
  for (const WrongTensors& wrong : wrongs) {
    Tensors tensors = tensors_of(problem);
    wrong.change(tensors);
    ASSERT_NE(fault_of(problem, tensors), nullptr) << wrong.fault;
    EXPECT_THAT(fault_of(problem, tensors), HasSubstr(wrong.fault));
  }
  EXPECT_THAT(fault_of(problem, tensors_of(problem)), IsNull());
}

TEST(ArgumentChecks, LetStridesAlongOneElementBeAnything) {
  Problem problem = tuned_problem();
  problem.batch = 1;
  problem.kv_heads = 1;
  problem.seq_len = 1;
  Tensors tensors = tensors_of(problem);
  tensors.q.batch_stride = -7;
  tensors.q.row_stride = 3;
  tensors.k.head_stride = 0;
  EXPECT_THAT(fault_of(problem, tensors), IsNull());
  tensors.k.row_stride = 0;
  EXPECT_NE(fault_of(problem, tensors), nullptr);
}

/// An array that is to be given if and only if the problem has something.
struct OptionalArray {
  const char* name;
  std::function<void(Tensors&, const void*)> give;
  std::function<void(Problem&)> want;
};

const OptionalArray kOptionalArrays[] = {
    {"seq_lens_kv",
     [](Tensors& t, const void* at) { t.seq_lens_kv = static_cast<const std::int32_t*>(at); },
     [](Problem& p) { p.has_seq_lens_kv = true; }},
    {"sinks", [](Tensors& t, const void* at) { t.sinks = static_cast<const float*>(at); },
     [](Problem& p) { p.has_sinks = true; }},
    {"page_table",
     [](Tensors& t, const void* at) { t.page_table = static_cast<const std::int32_t*>(at); },
     [](Problem& p) { p.page_size = 16, p.pool_pages = 9; }},
    {"cu_seqlens_q",
     [](Tensors& t, const void* at) {
       t.cu_seqlens_q = static_cast<const std::int32_t*>(at);
       t.cu_seqlens_kv = static_cast<const std::int32_t*>(at);
     },
     [](Problem& p) { p.is_packed = true, p.queries_total = p.keys_total = 500; }},
    {"k_scales",
     [](Tensors& t, const void* at) { t.k_scales = t.v_scales = static_cast<const float*>(at); },
     [](Problem& p) { p.kv_dtype = KvDType::e4m3, p.kv_scales = KvScales::token; }}};

TEST(ArgumentChecks, WantArraysWhereTheProblemHasThem) {
  for (const OptionalArray& array : kOptionalArrays) {
    Problem problem = tuned_problem();
    Tensors tensors = tensors_of(problem);
    array.give(tensors, reinterpret_cast<const void*>(0x1004));
    EXPECT_THAT(fault_of(problem, tensors), HasSubstr(array.name));
    array.want(problem);
    EXPECT_THAT(fault_of(problem, tensors), IsNull()) << array.name;
    array.give(tensors, reinterpret_cast<const void*>(0x1002));
    EXPECT_THAT(fault_of(problem, tensors), HasSubstr(array.name));
    array.give(tensors, nullptr);
    EXPECT_THAT(fault_of(problem, tensors), HasSubstr(array.name));
  }
}

TEST(ArgumentChecks, NameWhatIsWrongWithPagesAndPackedProblems) {
  const Wrong wrongs[] = {
      {[](Problem& p) { p.page_size = 12, p.pool_pages = 9; }, "page_size is no power of two"},
      {[](Problem& p) { p.page_size = 512, p.pool_pages = 9; }, "page_size is no power of two"},
      {[](Problem& p) { p.page_size = 16; }, "pool_pages"},
      {[](Problem& p) { p.page_size = 16, p.pool_pages = 9, p.seq_len_kv = 100; }, "no multiple"},
      {[](Problem& p) { p.is_packed = true, p.queries_total = 1; }, "keys_total"},
      {[](Problem& p) {
         p.is_packed = p.has_seq_lens_kv = true, p.queries_total = p.keys_total = 1;
       },
       "cu_seqlens_kv says"},
      {[](Problem& p) {
         p.is_packed = true, p.queries_total = 1, p.keys_total = kMostKeysInPages + 1;
         p.page_size = p.pool_pages = 1;
       },
       "keys_total is outside 1 to 2^31"}};
  for (const Wrong& wrong : wrongs) {
    Problem problem = tuned_problem();
    wrong.change(problem);
    ASSERT_NE(fault_of(problem), nullptr) << wrong.fault;
    EXPECT_THAT(fault_of(problem), HasSubstr(wrong.fault));
  }
}

TEST(ArgumentChecks, NameWhatIsWrongWithKAndVOfEightBits) {
  const Wrong wrongs[] = {
      {[](Problem& p) { p.kv_dtype = static_cast<KvDType>(15); }, "kv_dtype is neither"},
      {[](Problem& p) { p.kv_scales = static_cast<KvScales>(4); }, "kv_scales is neither"},
      {[](Problem& p) { p.kv_scales = KvScales::head; }, "K and V have no scales"},
      {[](Problem& p) { p.kv_dtype = KvDType::e5m2, p.kv_scales = KvScales::page; },
       "K and V are not in pages"}};
  for (const Wrong& wrong : wrongs) {
    Problem problem = tuned_problem();
    wrong.change(problem);
    ASSERT_NE(fault_of(problem), nullptr) << wrong.fault;
    EXPECT_THAT(fault_of(problem), HasSubstr(wrong.fault));
  }
  Problem paged = tuned_problem();
  paged.kv_dtype = KvDType::e5m2;
  paged.kv_scales = KvScales::page;
  paged.page_size = 16;
  paged.pool_pages = 9;
  EXPECT_THAT(fault_of(paged), IsNull());
}

TEST(ArgumentChecks, CountElementsOfEightBitsInStrides) {
  Problem problem = tuned_problem();
  problem.kv_dtype = KvDType::e4m3;
  Tensors tensors = tensors_of(problem);
  float scale = 1.0F;
  tensors.k_scales = tensors.v_scales = &scale;
  EXPECT_THAT(fault_of(problem, tensors), IsNull());
  tensors.k.row_stride += 8;
  EXPECT_THAT(fault_of(problem, tensors), HasSubstr("multiple of 16 bytes"));
  tensors.k.row_stride += 8;
  tensors.q.row_stride += 8;
  EXPECT_THAT(fault_of(problem, tensors), IsNull());
  tensors.v.batch_stride = std::int64_t{1} << 39;
  EXPECT_THAT(fault_of(problem, tensors), IsNull());
  tensors.v_scales = nullptr;
  EXPECT_THAT(fault_of(problem, tensors), HasSubstr("k_scales and v_scales must be given"));
}

TEST(ArgumentChecks, LetPackedSequencesHaveMoreKeysInPages) {
  Problem problem = tuned_problem();
  problem.is_packed = true;
  problem.queries_total = 1;
  problem.keys_total = kMostSeqLen + 1;
  EXPECT_THAT(fault_of(problem), HasSubstr("keys_total is outside 1 to 2^24"));
  problem.page_size = problem.pool_pages = 1;
  EXPECT_THAT(fault_of(problem), IsNull());
}

TEST(ArgumentChecks, WantLseWhereTheProblemDoes) {
  Problem problem = tuned_problem();
  problem.lse = true;
  Tensors tensors = tensors_of(problem);
  EXPECT_THAT(fault_of(problem, tensors), HasSubstr("lse"));
  tensors.lse = reinterpret_cast<float*>(0x1002);
  EXPECT_THAT(fault_of(problem, tensors), HasSubstr("lse"));
  tensors.lse = reinterpret_cast<float*>(0x1004);
  EXPECT_THAT(fault_of(problem, tensors), IsNull());
}

}  // namespace
}  // namespace fatune_attention::detail
