#include "hopper_kernels/product_kernel.hpp"

#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "emulator/values/floats.hpp"

namespace fatune::hopper {
namespace {

using emulate::Factor;
using emulate::Swizzle;
using emulate::TensorMap;

constexpr std::array kAllSwizzles{Swizzle::none, Swizzle::bytes_32, Swizzle::bytes_64,
                                  Swizzle::bytes_128};

constexpr std::uint32_t kStepBytes = 32;  // of a row, for an instruction

std::uint32_t bytes_of(Factor type) { return emulate::is_fp8(type) ? 1 : 2; }

/// Bytes of a panel's row: the swizzled line, or the row of one core matrix.
std::uint32_t panel_row_bytes(Swizzle swizzle) {
  constexpr std::array<std::uint32_t, 4> kBytes{16, 32, 64, 128};
  return kBytes[static_cast<std::size_t>(swizzle)];
}

/// How a matrix lies in shared memory: panels of some elements by all of the other dimension.
struct Layout {
  std::uint32_t inner = 0;  ///< elements of the dimension that is contiguous in global memory
  std::uint32_t outer = 0;
  std::uint32_t width = 0;  ///< of a panel, elements
  std::uint32_t row_bytes = 0;
  std::uint32_t element_bytes = 2;
  bool mn_major = false;
  Swizzle swizzle = Swizzle::none;

  [[nodiscard]] std::uint32_t panels() const { return (inner + width - 1) / width; }
  [[nodiscard]] std::uint32_t panel_bytes() const { return outer * row_bytes; }
  [[nodiscard]] std::uint32_t bytes() const { return panels() * panel_bytes(); }

  /// The offset from the start of the matrix to the elements of an instruction from `k` on.
  [[nodiscard]] std::uint32_t step_bytes(std::uint32_t k) const {
    return mn_major ? k * row_bytes : k / width * panel_bytes() + k % width * element_bytes;
  }
  [[nodiscard]] std::uint64_t descriptor() const {
    const bool plain = swizzle == Swizzle::none;
    const std::uint32_t core = 8 * row_bytes;
    const std::uint32_t leading = plain && mn_major ? core : panel_bytes();
    const std::uint32_t stride = plain && mn_major ? panel_bytes() : core;
    constexpr std::array<std::uint64_t, 4> kModes{0, 3, 2, 1};
    return std::uint64_t{leading / 16} << 16U | std::uint64_t{stride / 16} << 32U |
           kModes[static_cast<std::size_t>(swizzle)] << 62U;
  }
};

Layout layout(const ProductCase& c, bool mn_major, std::uint32_t rows) {
  Layout result;
  result.inner = mn_major ? rows : depth_of(c);
  result.outer = mn_major ? depth_of(c) : rows;
  result.row_bytes = panel_row_bytes(c.swizzle);
  result.element_bytes = bytes_of(c.a);
  result.width = result.row_bytes / result.element_bytes;
  result.mn_major = mn_major;
  result.swizzle = c.swizzle;
  return result;
}

Layout layout_a(const ProductCase& c) { return layout(c, c.a_is_mn_major, kRows); }
Layout layout_b(const ProductCase& c) { return layout(c, c.b_is_mn_major, c.columns); }

TensorMap map_of(const Layout& matrix, std::uint64_t address) {
  TensorMap map;
  map.rank = 2;
  map.address = address;
  map.sizes = {matrix.inner, matrix.outer};
  map.element_bytes = static_cast<std::uint8_t>(matrix.element_bytes);
  map.strides = {matrix.element_bytes, std::uint64_t{matrix.inner} * matrix.element_bytes};
  map.box = {matrix.width, matrix.outer};
  map.swizzle = matrix.swizzle;
  return map;
}

/// Loads all panels of a matrix to shared address %r`base`.
std::string loads(const Layout& matrix, const char* base, const char* map) {
  std::string text;
  for (std::uint32_t panel = 0; panel < matrix.panels(); ++panel) {
    text += fmt::format(
        "add.u32 %r9, {}, {};\nmov.u32 %r10, {};\n"
        "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%r9], [{}, {{%r10, %r11}}], [%r8];\n",
        base, panel * matrix.panel_bytes(), panel * matrix.width, map);
  }
  return text;
}

/// Element (row, k) of A, or (column, k) of B: small, without a pattern.
int element(std::uint32_t row, std::uint32_t k, std::uint32_t salt) {
  return static_cast<int>((row * 7 + k * 13 + row * k % 11 + salt) % 9) - 4;
}
constexpr std::uint32_t kSaltA = 0;
constexpr std::uint32_t kSaltB = 5;

std::uint16_t bits_of(int value, Factor type) {
  const auto number = static_cast<float>(value);
  switch (type) {
    case Factor::bf16:
      return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number) >> 16U);
    case Factor::e4m3:
      return emulate::to_fp8(value, emulate::Fp8::e4m3);
    case Factor::e5m2:
      return emulate::to_fp8(value, emulate::Fp8::e5m2);
    default:
      return emulate::to_half(number);
  }
}

/// The bits of a type of floats.
struct FloatFields {
  std::uint32_t mantissa_bits = 0;
  std::uint32_t sign = 0;            ///< the place of the sign
  std::uint32_t least_exponent = 0;  ///< of random numbers, as it is stored
};

constexpr FloatFields fields_of(Factor type) {
  switch (type) {
    case Factor::bf16:
      return {.mantissa_bits = 7, .sign = 15, .least_exponent = 127 - 5};
    case Factor::e4m3:
      return {.mantissa_bits = 3, .sign = 7, .least_exponent = 0};
    case Factor::e5m2:
      return {.mantissa_bits = 2, .sign = 7, .least_exponent = 15 - 5};
    default:
      return {.mantissa_bits = 10, .sign = 15, .least_exponent = 15 - 5};
  }
}

/// Numbers of ten exponents, of either sign: from 2^-5 on, and of e4m3 from subnormal ones on.
std::uint16_t random_bits(std::uint32_t row, std::uint32_t k, std::uint32_t salt, Factor type) {
  std::uint64_t hash = (std::uint64_t{salt} << 40U | std::uint64_t{row} << 20U | k) + 1;
  for (int i = 0; i < 3; ++i) {
    hash *= 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  }
  const FloatFields fields = fields_of(type);
  const auto exponent = static_cast<std::uint32_t>(fields.least_exponent + (hash >> 32U) % 10);
  const auto mantissa = static_cast<std::uint32_t>(hash & ((1U << fields.mantissa_bits) - 1));
  return static_cast<std::uint16_t>((hash >> 63U) << fields.sign |
                                    exponent << fields.mantissa_bits | mantissa);
}

void write_matrix(const Layout& matrix, Factor type, bool random, std::uint32_t salt,
                  std::uint8_t* to) {
  for (std::uint32_t outer = 0; outer < matrix.outer; ++outer) {
    for (std::uint32_t inner = 0; inner < matrix.inner; ++inner) {
      const std::uint32_t row = matrix.mn_major ? inner : outer;
      const std::uint32_t k = matrix.mn_major ? outer : inner;
      const std::uint16_t bits =
          random ? random_bits(row, k, salt, type) : bits_of(element(row, k, salt), type);
      const std::size_t index = std::size_t{outer} * matrix.inner + inner;
      std::memcpy(to + index * matrix.element_bytes, &bits, matrix.element_bytes);
    }
  }
}

/// The registers of D: "%f0, %f1, ...".
std::string sum_registers(const ProductCase& c) {
  std::string names;
  for (std::uint32_t i = 0; i < sums_of(c); ++i) {
    names += fmt::format("{}%s{}", i == 0 ? "" : ", ", i);
  }
  return names;
}

/// Reads the fragment of A from byte `first` of each row on out of global memory, where it is
/// K-major.
std::string a_fragment(std::uint32_t first) {
  std::string text;
  for (std::uint32_t i = 0; i < 4; ++i) {
    text += fmt::format("ld.global.u32 %a{}, [%w6+{}];\n", i,
                        kDataA + i % 2 * 8 * kRowBytes + first + i / 2 * 16);
  }
  return text;
}

/// The types of A and B in an opcode: "f16.f16".
std::string types_of(const ProductCase& c) {
  constexpr std::array kNames{"f16", "bf16", "tf32", "e4m3", "e5m2"};
  return fmt::format("{}.{}", kNames[static_cast<std::size_t>(c.a)],
                     kNames[static_cast<std::size_t>(c.b)]);
}

/// The operands for the major of A and of B: 8-bit types have none, nor has A in registers.
std::string majors_of(const ProductCase& c) {
  if (emulate::is_fp8(c.a)) {
    return "";
  }
  return fmt::format("{}, {}",
                     c.a_in_registers  ? ""
                     : c.a_is_mn_major ? ", 1"
                                       : ", 0",
                     c.b_is_mn_major ? 1 : 0);
}

/// True if the product at `k` adds to the sums. The first does not.
const char* scale_of_sums(const ProductCase& c, std::uint32_t k) {
  return !c.immediate_scale ? "%p2" : k == 0 ? "0" : "1";
}

std::string product(const ProductCase& c, std::uint32_t k) {
  const auto descriptor = [&](const char* to, const char* base, const Layout& matrix) {
    return fmt::format(
        "add.u32 %r9, {}, {};\nshr.u32 %r9, %r9, 4;\nand.b32 %r9, %r9, 16383;\n"
        "cvt.u64.u32 {}, %r9;\nor.b64 {}, {}, {};\n",
        base, matrix.step_bytes(k), to, to, to, matrix.descriptor());
  };
  std::string text = descriptor("%w4", "%r6", layout_b(c));
  text += c.a_in_registers ? "" : descriptor("%w3", "%r5", layout_a(c));
  return text + fmt::format(
                    "wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{} {{{}}}, {}, %w4, {}, {}, 1{};\n",
                    c.columns, kStepBytes / bytes_of(c.a), c.half_sums ? "f16" : "f32", types_of(c),
                    sum_registers(c), c.a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%w3",
                    scale_of_sums(c, k), c.negates_a ? -1 : 1, majors_of(c));
}

std::string all_products(const ProductCase& c) {
  std::string text = "setp.ne.u32 %p2, %r0, %r0;\n";  // the first does not add
  for (std::uint32_t byte = 0; byte < kRowBytes; byte += kStepBytes) {
    if (c.a_in_registers) {
      text += a_fragment(byte);
    }
    text += "wgmma.fence.sync.aligned;\n" + product(c, byte / bytes_of(c.a)) +
            "setp.eq.u32 %p2, %r0, %r0;\n";
    if (c.a_in_registers || byte + kStepBytes == kRowBytes) {
      text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    }
  }
  return text;
}

std::string stores(const ProductCase& c) {
  std::string text = fmt::format("mad.wide.u32 %w5, %r0, {}, %w1;\n", sums_of(c) * 4);
  for (std::uint32_t i = 0; i < sums_of(c); ++i) {
    text += fmt::format("st.global.b32 [%w5+{}], %s{};\n", i * 4, i);
  }
  return text;
}

}  // namespace

std::string ProductCase::name() const {
  constexpr std::array<const char*, 5> kTypeNames{"F16", "Bf16", "Tf32", "E4m3", "E5m2"};
  constexpr std::array<const char*, 4> kSwizzleNames{"None", "B32", "B64", "B128"};
  return fmt::format("N{}{}{}{}{}A{}{}B{}{}{}", columns, kTypeNames[static_cast<std::size_t>(a)],
                     a == b ? "" : kTypeNames[static_cast<std::size_t>(b)],
                     half_sums ? "HalfSums" : "", kSwizzleNames[static_cast<std::size_t>(swizzle)],
                     a_in_registers  ? "Registers"
                     : a_is_mn_major ? "MMajor"
                                     : "KMajor",
                     negates_a ? "Negative" : "", b_is_mn_major ? "NMajor" : "KMajor",
                     immediate_scale ? "ImmediateScale" : "", random ? "Random" : "");
}

std::vector<ProductCase> product_cases() {
  std::vector<ProductCase> cases;
  for (const Swizzle swizzle : kAllSwizzles) {
    for (const bool a_mn : {false, true}) {
      for (const bool b_mn : {false, true}) {
        cases.push_back(
            {.columns = 64, .swizzle = swizzle, .a_is_mn_major = a_mn, .b_is_mn_major = b_mn});
        cases.push_back({.columns = 128,
                         .swizzle = swizzle,
                         .a = Factor::bf16,
                         .b = Factor::bf16,
                         .a_is_mn_major = a_mn,
                         .b_is_mn_major = b_mn,
                         .negates_a = b_mn});
      }
    }
    cases.push_back(
        {.columns = 192, .swizzle = swizzle, .a_in_registers = true, .b_is_mn_major = true});
    cases.push_back({.columns = 8, .swizzle = swizzle, .half_sums = true});
  }
  for (const std::uint32_t columns : {72U, 80U, 96U}) {
    cases.push_back({.columns = columns, .a_in_registers = true, .b_is_mn_major = true});
  }
  cases.push_back({.columns = 64, .immediate_scale = true});
  cases.push_back({.columns = 64, .a_in_registers = true, .immediate_scale = true});
  for (const std::uint32_t columns : {24U, 80U, 176U, 256U}) {
    cases.push_back({.columns = columns});
    cases.push_back({.columns = columns, .half_sums = true, .a_in_registers = true});
  }
  return cases;
}

std::vector<ProductCase> fp8_product_cases() {
  std::vector<ProductCase> cases;
  for (const Factor a : {Factor::e4m3, Factor::e5m2}) {
    for (const Factor b : {Factor::e4m3, Factor::e5m2}) {
      cases.push_back({.columns = 24, .a = a, .b = b, .negates_a = a == b});
      cases.push_back({.columns = 256, .a = a, .b = b, .a_in_registers = true});
    }
  }
  for (const Swizzle swizzle : kAllSwizzles) {
    cases.push_back({.columns = 64, .swizzle = swizzle, .a = Factor::e5m2, .b = Factor::e4m3});
    cases.push_back({.columns = 128,
                     .swizzle = swizzle,
                     .a = Factor::e4m3,
                     .b = Factor::e4m3,
                     .a_in_registers = true,
                     .negates_a = true});
  }
  return cases;
}

std::vector<ProductCase> random_product_cases() {
  std::vector<ProductCase> cases;
  for (const std::uint32_t columns : {64U, 256U}) {
    for (const bool registers : {false, true}) {
      cases.push_back({.columns = columns, .a_in_registers = registers, .random = true});
      cases.push_back({.columns = columns,
                       .a = Factor::bf16,
                       .b = Factor::bf16,
                       .a_in_registers = registers,
                       .random = true});
      cases.push_back(
          {.columns = columns, .half_sums = true, .a_in_registers = registers, .random = true});
      for (const Factor type : {Factor::e4m3, Factor::e5m2}) {
        cases.push_back({.columns = columns,
                         .a = type,
                         .b = Factor::e4m3,
                         .a_in_registers = registers,
                         .random = true});
      }
    }
  }
  return cases;
}

std::uint32_t depth_of(const ProductCase& c) { return kRowBytes / bytes_of(c.a); }

std::uint32_t sums_of(const ProductCase& c) { return c.columns / (c.half_sums ? 4 : 2); }

std::string product_kernel(const ProductCase& c) {
  const std::uint32_t a_bytes = layout_a(c).bytes();
  const std::uint32_t b_bytes = layout_b(c).bytes();
  return fmt::format(
             ".version 8.0\n.target sm_90a\n.address_size 64\n"
             ".visible .entry k(.param .u64 in, .param .u64 out)\n{{\n"
             ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %w<8>; .reg .b32 %a<4>; .reg .b32 "
             "%s<{}>;\n"
             ".shared .align 1024 .b8 tiles[{}]; .shared .align 8 .b8 bar[8];\n"
             "ld.param.u64 %w0, [in];\nld.param.u64 %w1, [out];\nmov.u32 %r0, %tid.x;\n"
             "mov.u32 %r5, tiles;\nadd.u32 %r6, %r5, {};\nmov.u32 %r8, bar;\nmov.u32 %r11, 0;\n"
             "setp.eq.u32 %p1, %r0, 0;\nadd.u64 %w2, %w0, {};\n"
             "@%p1 mbarrier.init.shared.b64 [%r8], 1;\nbar.sync 0;\n"
             "@%p1 mbarrier.arrive.expect_tx.shared.b64 %w7, [%r8], {};\n",
             sums_of(c), a_bytes + b_bytes, a_bytes, kMapB, a_bytes + b_bytes) +
         loads(layout_a(c), "%r5", "%w0") + loads(layout_b(c), "%r6", "%w2") +
         "WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r8], 0;\n@!%p3 bra WAIT;\n"
         // The place of A's elements in registers: row warp * 16 + lane / 4, byte lane % 4 * 4.
         "shr.u32 %r12, %r0, 5;\nshl.b32 %r12, %r12, 4;\nand.b32 %r13, %r0, 31;\n"
         "shr.u32 %r14, %r13, 2;\nadd.u32 %r12, %r12, %r14;\nand.b32 %r13, %r13, 3;\n" +
         fmt::format("mul.lo.u32 %r12, %r12, {};\nshl.b32 %r13, %r13, 2;\n", kRowBytes) +
         "add.u32 %r12, %r12, %r13;\ncvt.u64.u32 %w6, %r12;\nadd.u64 %w6, %w6, %w0;\n" +
         all_products(c) + stores(c) + "ret;\n}\n";
}

std::array<TensorMap, 2> product_maps(const ProductCase& c, std::uint64_t address) {
  return {map_of(layout_a(c), address + kDataA), map_of(layout_b(c), address + kDataB)};
}

std::vector<std::uint8_t> product_data(const ProductCase& c) {
  std::vector<std::uint8_t> bytes(kInputBytes - kDataA);
  write_matrix(layout_a(c), c.a, c.random, kSaltA, bytes.data());
  write_matrix(layout_b(c), c.b, c.random, kSaltB, bytes.data() + (kDataB - kDataA));
  return bytes;
}

std::vector<std::uint32_t> expected_sums(const ProductCase& c) {
  const auto sum_at = [&](std::uint32_t row, std::uint32_t column) {
    int sum = 0;
    for (std::uint32_t k = 0; k < depth_of(c); ++k) {
      sum += element(row, k, kSaltA) * element(column, k, kSaltB);
    }
    return static_cast<float>(c.negates_a ? -sum : sum);
  };
  std::vector<std::uint32_t> sums(std::size_t{kThreads} * sums_of(c));
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    for (std::uint32_t i = 0; i < c.columns / 2; ++i) {
      const std::uint32_t row = thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8;
      const std::uint32_t column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      const float value = sum_at(row, column);
      if (c.half_sums) {
        sums[thread * sums_of(c) + i / 2] |= std::uint32_t{emulate::to_half(value)}
                                             << (16 * (i % 2));
      } else {
        sums[thread * sums_of(c) + i] = std::bit_cast<std::uint32_t>(value);
      }
    }
  }
  return sums;
}

}  // namespace fatune::hopper
