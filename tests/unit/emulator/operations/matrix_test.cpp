#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "emulator/values/floats.hpp"
#include "emulator/values/fp8.hpp"
#include "unit/emulator/emulated_kernel.hpp"

// mma.sync, with the fragments of PTX ISA 9.0, section 9.7.14.5.
namespace fatune::emulate {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A form of mma.sync, and the encoding of its elements.
struct MatrixForm {
  const char* name;
  int depth;
  std::size_t element_bytes;      ///< of A and B
  std::uint32_t (*encode)(int);   ///< a small integer as an element
  std::size_t accumulator_bytes;  ///< 2: halves
  std::uint32_t (*encode_sum)(int);
  bool negative = true;                      ///< A may have negative elements
  std::uint32_t (*encode_b)(int) = nullptr;  ///< null: like A's
};

std::uint32_t as_half(int value) { return to_half(static_cast<float>(value)); }
std::uint32_t as_bfloat(int value) { return to_bfloat(static_cast<float>(value)); }
std::uint32_t as_float(int value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}
/// Sets the bits below the 19 bits of tf32, because they must not count.
std::uint32_t as_tf32(int value) { return as_float(value) | 0x1fffU; }
std::uint32_t as_e4m3(int value) { return to_fp8(value, Fp8::e4m3); }
std::uint32_t as_e5m2(int value) { return to_fp8(value, Fp8::e5m2); }
std::uint32_t as_integer(int value) { return static_cast<std::uint32_t>(value); }

const MatrixForm kForms[]{
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 2, as_half, 4, as_float},
    {"m16n8k8.row.col.f32.f16.f16.f32", 8, 2, as_half, 4, as_float},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16, 2, as_half, 2, as_half},
    {"m16n8k8.row.col.f16.f16.f16.f16", 8, 2, as_half, 2, as_half},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 2, as_bfloat, 4, as_float},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 8, 2, as_bfloat, 4, as_float},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 8, 4, as_tf32, 4, as_float},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 4, 4, as_tf32, 4, as_float},
    {"m16n8k32.row.col.s32.s8.s8.s32", 32, 1, as_integer, 4, as_integer},
    {"m16n8k32.row.col.s32.u8.s8.s32", 32, 1, as_integer, 4, as_integer, false},
    {"m16n8k16.row.col.s32.s8.u8.s32", 16, 1, as_integer, 4, as_integer},
    {"m16n8k16.row.col.satfinite.s32.u8.u8.s32", 16, 1, as_integer, 4, as_integer, false},
    {"m16n8k32.row.col.f32.e4m3.e4m3.f32", 32, 1, as_e4m3, 4, as_float},
    {"m16n8k32.row.col.f32.e4m3.e5m2.f32", 32, 1, as_e4m3, 4, as_float, true, as_e5m2},
    {"m16n8k32.row.col.f32.e5m2.e4m3.f32", 32, 1, as_e5m2, 4, as_float, true, as_e4m3},
    {"m16n8k32.row.col.f32.e5m2.e5m2.f32", 32, 1, as_e5m2, 4, as_float},
    {"m16n8k16.row.col.f32.e4m3.e4m3.f32", 16, 1, as_e4m3, 4, as_float},
    {"m16n8k16.row.col.f32.e5m2.e4m3.f32", 16, 1, as_e5m2, 4, as_float, true, as_e4m3},
    {"m16n8k32.row.col.f16.e4m3.e5m2.f16", 32, 1, as_e4m3, 2, as_half, true, as_e5m2},
    {"m16n8k16.row.col.f16.e5m2.e5m2.f16", 16, 1, as_e5m2, 2, as_half},
};

// The values are small enough for every sum to be exact.
int a_of(const MatrixForm& form, int row, int k) {
  return (row + 3 * k) % 11 - (form.negative ? 5 : 0);
}
int b_of(int k, int column) { return (k + 3 * column) % 5; }
int c_of(int row, int column) { return 7 * row + column; }

int product(const MatrixForm& form, int row, int column) {
  int sum = c_of(row, column);
  for (int k = 0; k < form.depth; ++k) {
    sum += a_of(form, row, k) * b_of(k, column);
  }
  return sum;
}

void append(std::vector<std::uint8_t>& to, std::uint32_t bits, std::size_t bytes) {
  const auto* const from = reinterpret_cast<const std::uint8_t*>(&bits);
  to.insert(to.end(), from, from + bytes);
}

/// The contents of a lane's registers of A, B and C, in this order. Elements that are neighbours
/// along k share a register; see the section's figures.
std::vector<std::uint8_t> fragments(const MatrixForm& form, int lane) {
  const int packed = static_cast<int>(4 / form.element_bytes);
  const int step = 4 * packed;  // along k, from one register of a row to the next
  std::vector<std::uint8_t> bytes;
  for (int first = 0; first < form.depth; first += step) {
    for (const int row : {lane / 4, lane / 4 + 8}) {
      for (int i = 0; i < packed; ++i) {
        append(bytes, form.encode(a_of(form, row, first + lane % 4 * packed + i)),
               form.element_bytes);
      }
    }
  }
  for (int first = 0; first < form.depth; first += step) {
    for (int i = 0; i < packed; ++i) {
      const auto encode = form.encode_b == nullptr ? form.encode : form.encode_b;
      append(bytes, encode(b_of(first + lane % 4 * packed + i, lane / 4)), form.element_bytes);
    }
  }
  for (const int row : {lane / 4, lane / 4 + 8}) {
    for (const int column : {lane % 4 * 2, lane % 4 * 2 + 1}) {
      append(bytes, form.encode_sum(c_of(row, column)), form.accumulator_bytes);
    }
  }
  return bytes;
}

std::string names(int first, std::size_t count) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < count; ++i) {
    list.push_back(fmt::format("%r{}", static_cast<std::size_t>(first) + i));
  }
  return fmt::format("{{{}}}", fmt::join(list, ", "));
}

/// Loads each lane's fragments from its 64 bytes of input, and stores its 8 or 16 bytes of D.
std::string kernel_of(const MatrixForm& form, std::size_t registers) {
  const auto row_bytes = static_cast<std::size_t>(form.depth) * form.element_bytes;
  const std::size_t a = row_bytes / 8;
  const std::size_t c = form.accumulator_bytes;
  std::string text = "mad.wide.u32 %w3, %r0, 64, %w0;\n";
  for (std::size_t i = 0; i < registers; ++i) {
    text += fmt::format("ld.global.u32 %r{}, [%w3+{}];\n", 10 + i, 4 * i);
  }
  text += fmt::format("mma.sync.aligned.{} {}, {}, {}, {};\n", form.name, names(1, c), names(10, a),
                      names(static_cast<int>(10 + a), a / 2),
                      names(static_cast<int>(10 + a + a / 2), c));
  for (std::size_t i = 0; i < c; ++i) {
    text += fmt::format("st.global.u32 [%w2+{}], %r{};\n", 4 * i, 1 + i);
  }
  return kernel_text(text);
}

class MmaForms : public testing::TestWithParam<MatrixForm> {};

TEST_P(MmaForms, MultipliesMatricesByTheirFragments) {
  const MatrixForm& form = GetParam();
  Trial trial;
  std::size_t registers = 0;
  for (int lane = 0; lane < 32; ++lane) {
    const std::vector<std::uint8_t> bytes = fragments(form, lane);
    registers = bytes.size() / 4;
    std::memcpy(trial.input.data() + 64 * lane, bytes.data(), bytes.size());
  }
  const Emulated done = emulate(kernel_of(form, registers), trial);
  EXPECT_THAT(done.findings(), IsEmpty());
  for (int lane = 0; lane < 32; ++lane) {
    const std::uint8_t* at = done.output.data() + 16 * lane;
    for (const int row : {lane / 4, lane / 4 + 8}) {
      for (const int column : {lane % 4 * 2, lane % 4 * 2 + 1}) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, at, form.accumulator_bytes);
        EXPECT_EQ(bits, form.encode_sum(product(form, row, column))) << row << ", " << column;
        at += form.accumulator_bytes;
      }
    }
  }
}

std::string form_test_name(const testing::TestParamInfo<MatrixForm>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, MmaForms, testing::ValuesIn(kForms), form_test_name);

/// D[0][0]: the sum of `accumulator` and 32 products. The bytes of `factor` are the factors.
std::uint64_t integer_sum(const char* form, const char* factor, std::int32_t accumulator) {
  const Emulated done = emulate(kernel_text(fmt::format(
      "mov.b32 %r1, {1};\nmov.b32 %r2, {2};\nmma.sync.aligned.m16n8k32.row.col.{0} "
      "{{%r3, %r4, %r5, %r6}}, {{%r1, %r1, %r1, %r1}}, {{%r1, %r1}}, {{%r2, %r2, %r2, %r2}};\n"
      "st.global.u32 [%w2], %r3;\n",
      form, factor, accumulator)));
  EXPECT_THAT(done.findings(), IsEmpty());
  return done.stored();
}

TEST(Mma, IntegersWrapAroundOrSaturate) {
  constexpr std::int32_t kMost = 0x7fffffff;
  EXPECT_EQ(integer_sum("s32.s8.s8.s32", "0x80808080", 1), 32U * 128 * 128 + 1);
  EXPECT_EQ(integer_sum("s32.u8.u8.s32", "0xffffffff", 1), 32U * 255 * 255 + 1);
  EXPECT_EQ(integer_sum("s32.u8.u8.s32", "0xffffffff", kMost), 0x7fffffffU + 32U * 255 * 255);
  EXPECT_EQ(integer_sum("satfinite.s32.u8.u8.s32", "0xffffffff", kMost), 0x7fffffffU);
  EXPECT_EQ(integer_sum("satfinite.s32.s8.u8.s32", "0x80808080", -kMost), 0x80000000U);
}

/// D[0][0] of m16n8k32, where each word of A is `a`, each word of B is `b`, and C is `c`.
std::uint32_t fp8_sum(const char* types, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::size_t sums = std::string_view(types).starts_with("f16") ? 2 : 4;
  const auto same = [](const char* name, std::size_t count) {
    return fmt::format("{{{}}}", fmt::join(std::vector<std::string>(count, name), ", "));
  };
  const Emulated done = emulate(kernel_text(fmt::format(
      "mov.b32 %r1, {};\nmov.b32 %r2, {};\nmov.b32 %r3, {};\n"
      "mma.sync.aligned.m16n8k32.row.col.{} {}, {}, {}, {};\nst.global.u32 [%w2], %r10;\n",
      a, b, c, types, names(10, sums), same("%r1", 4), same("%r2", 2), same("%r3", sums))));
  EXPECT_THAT(done.findings(), IsEmpty());
  return static_cast<std::uint32_t>(done.stored());
}

constexpr const char* kE4m3 = "f32.e4m3.e4m3.f32";
constexpr const char* kE5m2 = "f32.e5m2.e5m2.f32";
constexpr std::uint32_t kNanSum = 0x7fffffff;

std::uint32_t float_bits_of(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

TEST(Mma, EightBitFloatsHaveTheirNansAndInfinities) {
  EXPECT_EQ(fp8_sum(kE4m3, 0x0000007f, 0, 0), kNanSum);
  EXPECT_EQ(fp8_sum(kE4m3, 0, 0xff000000, 0), kNanSum);
  EXPECT_EQ(fp8_sum("f16.e4m3.e4m3.f16", 0x7f, 0, 0), 0x7fff7fffU);
  EXPECT_EQ(fp8_sum(kE5m2, 0x00007d00, 0, 0), kNanSum);
  EXPECT_EQ(fp8_sum(kE5m2, 0x00007c00, 0x00003c00, 0), 0x7f800000U);  // infinity x 1
  EXPECT_EQ(fp8_sum(kE5m2, 0x00007c00, 0x0000bc00, 0), 0xff800000U);
  EXPECT_EQ(fp8_sum(kE5m2, 0x00007c00, 0, 0), kNanSum);           // infinity x 0
  EXPECT_EQ(fp8_sum(kE5m2, 0x0000fc7c, 0x00003c3c, 0), kNanSum);  // infinity - infinity
  EXPECT_EQ(fp8_sum(kE5m2, 0x3c, 0x3c, 0x7f800000), 0x7f800000U);
}

TEST(Mma, TheGreatestAndLeastEightBitFloatsAreExact) {
  EXPECT_EQ(fp8_sum(kE4m3, 0x7e7e7e7e, 0x7e7e7e7e, 0), float_bits_of(32.0 * 448 * 448));
  EXPECT_EQ(fp8_sum(kE4m3, 0x7e7e7e7e, 0xfefefefe, 0), float_bits_of(-32.0 * 448 * 448));
  EXPECT_EQ(fp8_sum(kE4m3, 0x01010101, 0x01010101, 0), float_bits_of(0x1p-13));
  EXPECT_EQ(fp8_sum(kE5m2, 0x7b7b7b7b, 0x7b7b7b7b, 0), float_bits_of(32.0 * 57344 * 57344));
  EXPECT_EQ(fp8_sum(kE5m2, 0x01010101, 0x81818181, 0), float_bits_of(-0x1p-27));
  EXPECT_EQ(fp8_sum("f32.e4m3.e5m2.f32", 0x7e7e7e7e, 0x01010101, 0),
            float_bits_of(32.0 * 448 * 0x1p-16));
  EXPECT_EQ(fp8_sum(kE4m3, 0x80808080, 0x38383838, 0x80000000), 0U);  // no sum is -0
}

TEST(Mma, TheAccumulatorIsAddedToTheSumOfEightBitProducts) {
  // Eight products of 1.5 x 2^-14 and 2^-13: the sum, 1.5 x 2^-24, is rounded up with C.
  EXPECT_EQ(fp8_sum(kE5m2, 0x06, 0x08, 0x3f800000), 0x3f800001U);
  EXPECT_EQ(fp8_sum(kE5m2, 0x06, 0x88, 0xbf800000), 0xbf800001U);
  EXPECT_EQ(fp8_sum("f16.e5m2.e5m2.f16", 0x06, 0x68, 0x68006800), 0x68016801U);
}

TEST(Mma, EightBitProductsAreAddedInTwoParts) {
  // The elements 0 and 1 of each word come first. Their sum of halves overflows.
  constexpr const char* kHalfSums = "f16.e5m2.e5m2.f16";
  EXPECT_EQ(fp8_sum(kHalfSums, 0xf8f87878, 0x3c3c3c3c, 0), 0x7c007c00U);
  EXPECT_EQ(fp8_sum(kHalfSums, 0x7878f8f8, 0x3c3c3c3c, 0), 0xfc00fc00U);
  EXPECT_EQ(fp8_sum(kHalfSums, 0xf878f878, 0x3c3c3c3c, 0), 0U);
}

TEST(Mma, OtherFormsAreNotCovered) {
  for (const char* form :
       {"m8n8k4.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f32.f16.bf16.f32",
        "m16n8k16.row.col.f32.f16.f16.f16", "m16n8k32.row.col.f32.e4m3.e4m3.f16",
        "m16n8k64.row.col.f32.e4m3.e4m3.f32", "m16n8k32.row.col.f32.e4m3.f16.f32",
        "m16n8k32.row.col.f32.e4m3.e2m3.f32", "m16n8k32.row.col.bf16.e4m3.e4m3.bf16",
        "m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", "m8n8k32.row.col.f32.e4m3.e4m3.f32",
        "m16n8k64.row.col.s32.s4.s4.s32", "m16n8k32.row.col.wrap.s32.s8.s8.s32"}) {
    try {
      (void)emulate(kernel_text(fmt::format(
          "mma.sync.aligned.{} {{%r1, %r1, %r1, %r1}}, {{%r1, %r1, %r1, %r1}}, {{%r1, %r1}}, "
          "{{%r1, %r1, %r1, %r1}};\n",
          form)));
      ADD_FAILURE() << form;
    } catch (const std::exception& error) {
      EXPECT_THAT(error.what(), HasSubstr("not covered")) << form;
    }
  }
}

TEST(Wgmma, OtherFormsOfEightBitFloatsAreRefusedWithAReason) {
  const auto refused = [](const std::string& form, const std::string& operands, const char* says) {
    try {
      (void)emulate(
          kernel_text(fmt::format("wgmma.mma_async.sync.aligned.{} {};\n", form, operands)));
      ADD_FAILURE() << form;
    } catch (const std::exception& error) {
      EXPECT_THAT(error.what(), HasSubstr(says)) << form;
    }
  };
  const std::string operands = "{%f1, %f2, %f3, %f4}, %w3, %w4, %p1, 1, 1";
  for (const char* form : {"m64n8k16.f32.e4m3.e4m3", "m64n12k32.f32.e4m3.e4m3",
                           "m64n264k32.f32.e5m2.e4m3", "m64n8k32.f32.f16.f16"}) {
    refused(form, operands, "m64nNk32 of 8-bit types, N from 8 to 256 by 8");
  }
  refused("m64n8k32.f16.e4m3.e4m3", operands, "8-bit floats only with sums in .f32");
  refused("m64n8k32.f32.e4m3.f16", operands, "of which only 8-bit types may be mixed");
  refused("m64n8k32.f32.e4m3.e2m3", operands, "only dense products of floats");
  refused("sp.m64n8k64.f32.e4m3.e4m3", operands, "only dense products of floats");
  refused("m64n8k32.f32.e4m3.e4m3", operands + ", 0, 0", "8-bit matrices are K-major");
  refused("m64n8k32.f32.e4m3.e4m3", "{%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, %w4, %p1, 1, 1, 0",
          "8-bit matrices are K-major");
  refused("m64n8k32.f32.e4m3.e4m3", "{%f1, %f2, %f3, %f4}, {%r1, %r2}, %w4, %p1, 1, 1",
          "wrong number of registers of A");
  refused("m64n8k32.f32.e4m3.e4m3", "{%f1, %f2, %f3, %f4}, %w3, %w4, %p1, 2, 1",
          "a scale must be 1 or -1");
}

}  // namespace
}  // namespace fatune::emulate
