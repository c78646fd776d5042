#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "emulator/values/floats.hpp"
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
  bool negative = true;  ///< A may have negative elements
};

std::uint32_t as_half(int value) { return to_half(static_cast<float>(value)); }
std::uint32_t as_bfloat(int value) { return to_bfloat(static_cast<float>(value)); }
std::uint32_t as_float(int value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}
/// Sets the bits below the 19 bits of tf32, because they must not count.
std::uint32_t as_tf32(int value) { return as_float(value) | 0x1fffU; }
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
      append(bytes, form.encode(b_of(first + lane % 4 * packed + i, lane / 4)), form.element_bytes);
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

TEST(Mma, OtherFormsAreNotCovered) {
  for (const char* form :
       {"m8n8k4.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f32.f16.bf16.f32",
        "m16n8k16.row.col.f32.f16.f16.f16", "m16n8k32.row.col.f32.e4m3.e4m3.f32",
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

}  // namespace
}  // namespace fatune::emulate
