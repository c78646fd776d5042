#include "model/head_problem.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "common/attention_args.h"
#include "common/attention_dump.h"
#include "unit/model/standard_arguments.hpp"

namespace fatune {
namespace {

const Problem kProblem{3, 77, 5, 128, DType::bf16, true};

std::uint64_t address_of(const std::string& tensor) {
  return tensor == kDumpTensor ? 0x10000 : static_cast<std::uint64_t>(tensor.at(0)) << 20U;
}

template <typename Args>
Args packed(const KernelArguments& arguments) {
  const std::vector<std::uint8_t> bytes = pack_arguments(arguments, {&address_of, nullptr});
  Args args;
  EXPECT_EQ(bytes.size(), sizeof args);
  std::memcpy(static_cast<void*>(&args), bytes.data(), sizeof args);
  return args;
}

TEST(ForwardArguments, AreTheStructThatKernelsInclude) {
  const auto args = packed<AttentionForwardArgs>(attention_forward_arguments(kProblem));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(args.q), address_of("q"));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(args.k), address_of("k"));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(args.v), address_of("v"));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(args.o), address_of("o"));
  EXPECT_EQ(args.batch, 3);
  EXPECT_EQ(args.seq_len, 77);
  EXPECT_EQ(args.heads, 5);
  EXPECT_EQ(args.softmax_scale, 1.0F / std::sqrt(128.0F));
}

/// Reads a value from the packed bytes.
template <typename Value>
Value value_at(const std::vector<std::uint8_t>& bytes, std::size_t offset) {
  Value value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

TEST(ForwardArguments, UnusualProblemsAppendMembers) {
  constexpr std::size_t kEnd = sizeof(AttentionForwardArgs);
  Problem problem = kProblem;
  problem.seq_len_kv = 99;
  const auto bytes_of = [](const Problem& of) {
    return pack_arguments(attention_forward_arguments(of), {&address_of, nullptr});
  };
  EXPECT_EQ(bytes_of(problem).size(), kEnd + 8);
  EXPECT_EQ(value_at<int>(bytes_of(problem), kEnd), 99);
  problem.lse = true;
  EXPECT_EQ(bytes_of(problem).size(), kEnd + 16);
  EXPECT_EQ(value_at<std::uint64_t>(bytes_of(problem), kEnd), address_of("lse"));
  EXPECT_EQ(value_at<int>(bytes_of(problem), kEnd + 8), 99);
  problem.seq_len_kv = problem.seq_len;
  EXPECT_EQ(bytes_of(problem).size(), kEnd + 8);
  const KernelArguments arguments = attention_forward_arguments(problem);
  ASSERT_EQ(arguments.buffers.size(), 1U);
  EXPECT_EQ(arguments.buffers[0].bytes, 4 * 3 * 77 * 5);
  EXPECT_TRUE(attention_forward_arguments(kProblem).buffers.empty());
}

TEST(ForwardArguments, ADumpExtendsTheStruct) {
  const DumpExtents extents{64, 96, 3};
  KernelArguments arguments = attention_forward_arguments(kProblem);
  add_dump(extents, arguments);
  const auto args = packed<AttentionForwardDumpArgs>(arguments);
  EXPECT_EQ(args.heads, 5);
  const auto start = std::bit_cast<float*>(address_of(kDumpTensor));
  EXPECT_EQ(args.dump.s, start);
  EXPECT_EQ(args.dump.p, start + 64 * 96);
  EXPECT_EQ(args.dump.m, start + 2 * 64 * 96);
  EXPECT_EQ(args.dump.l, start + 2 * 64 * 96 + 3 * 64);
  EXPECT_EQ(args.dump.o, start + 2 * 64 * 96 + 2 * 3 * 64);
  EXPECT_EQ(args.dump.rows, 64);
  EXPECT_EQ(args.dump.keys, 96);
}

TEST(ForwardArguments, OtherArgumentsGetTheDumpBehindThem) {
  KernelArguments arguments{false, {{"/arguments/0", 4, 4, {{0, 4, 9}}, {}, {}}}, {}};
  add_dump({64, 64, 1}, arguments);
  ASSERT_EQ(arguments.list.size(), 2U);
  EXPECT_EQ(arguments.list[1].bytes, static_cast<std::int64_t>(sizeof(AttentionDump)));
  EXPECT_EQ(argument_offsets(arguments.list)[1], 8);
}

}  // namespace
}  // namespace fatune
