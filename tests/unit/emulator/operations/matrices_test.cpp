#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "unit/emulator/emulated_kernel.hpp"

// ldmatrix and stmatrix as PTX ISA 9.0 defines them, in sections 9.7.14.5.15 and .16.
namespace fatune::emulate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Form {
  int count;
  bool transposed;
  bool generic;

  [[nodiscard]] std::string name() const {
    return fmt::format("m8n8.x{}{}{}.b16", count, transposed ? ".trans" : "",
                       generic ? "" : ".shared");
  }
  /// The list of the registers, as "{%r10, %r11}".
  [[nodiscard]] std::string registers() const {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) {
      names.push_back(fmt::format("%r{}", 10 + i));
    }
    return fmt::format("{{{}}}", fmt::join(names, ", "));
  }
  /// The operand for the address of lane %r0's row, in the space that the form takes.
  [[nodiscard]] std::string address() const { return generic ? "[%w5]" : "[%r5]"; }
};

/// Declares `tile` with 32 rows of 16 bytes, and sets %r5 and %w5 to the address of row %r0.
std::string tile() {
  return ".shared .align 16 .b8 tile[512];\nmov.u32 %r4, tile;\nshl.b32 %r3, %r0, 4;\n"
         "add.u32 %r5, %r4, %r3;\ncvt.u64.u32 %w4, %r5;\ncvta.shared.u64 %w5, %w4;\n"
         "mad.wide.u32 %w3, %r0, 16, %w0;\n";
}

/// 512 bytes: 256 different 16-bit elements.
std::vector<std::uint8_t> numbered() {
  std::vector<std::uint8_t> bytes(512);
  for (std::uint16_t i = 0; i < 256; ++i) {
    const auto number = static_cast<std::uint16_t>(i + 1000);
    std::memcpy(bytes.data() + 2 * i, &number, sizeof(number));
  }
  return bytes;
}

/// Element (row, column) of matrix `index` of numbered().
std::uint32_t element(int index, int row, int column) {
  return static_cast<std::uint32_t>(64 * index + 8 * row + column + 1000);
}

/// The two elements of matrix `index` that lane `lane` holds in one register.
std::uint32_t fragment(const Form& form, int index, int lane) {
  const int major = lane / 4;
  const int minor = lane % 4 * 2;
  const auto at = [&](int column) {
    return form.transposed ? element(index, column, major) : element(index, major, column);
  };
  return at(minor) | at(minor + 1) << 16U;
}

class Matrices : public testing::TestWithParam<Form> {};

TEST_P(Matrices, AreLoadedByTheirFragments) {
  const Form& form = GetParam();
  std::string text = tile() +
                     "ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%w3];\n"
                     "st.shared.v4.u32 [%r5], {%r20, %r21, %r22, %r23};\nbar.warp.sync -1;\n" +
                     fmt::format("ldmatrix.sync.aligned.{} {}, {};\n", form.name(),
                                 form.registers(), form.address());
  for (int i = 0; i < form.count; ++i) {
    text += fmt::format("st.global.u32 [%w2+{}], %r{};\n", 4 * i, 10 + i);
  }
  const Emulated done = emulate(kernel_text(text), {.input = numbered()});
  EXPECT_THAT(done.findings(), IsEmpty());
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < form.count; ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, done.output.data() + 16 * lane + 4 * i, sizeof(bits));
      EXPECT_EQ(bits, fragment(form, i, lane)) << "lane " << lane << ", matrix " << i;
    }
  }
}

/// The input has each lane's registers. The output is the tile, 16 bytes from each lane.
TEST_P(Matrices, AreStoredByTheirFragments) {
  const Form& form = GetParam();
  Trial trial;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < form.count; ++i) {
      const std::uint32_t bits = fragment(form, i, lane);
      std::memcpy(trial.input.data() + 16 * lane + 4 * i, &bits, sizeof(bits));
    }
  }
  const Emulated done =
      emulate(kernel_text(tile() + "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%w3];\n" +
                          fmt::format("stmatrix.sync.aligned.{} {}, {};\nbar.warp.sync -1;\n",
                                      form.name(), form.address(), form.registers()) +
                          fmt::format("setp.lt.u32 %p1, %r0, {};\n", 8 * form.count) +
                          "@%p1 ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r5];\n"
                          "@%p1 st.global.v4.u32 [%w2], {%r20, %r21, %r22, %r23};\n"),
              trial);
  EXPECT_THAT(done.findings(), IsEmpty());
  const std::vector<std::uint8_t> expected = numbered();
  EXPECT_EQ(
      std::memcmp(done.output.data(), expected.data(), static_cast<std::size_t>(128 * form.count)),
      0);
}

std::string test_name(const testing::TestParamInfo<Form>& info) {
  return fmt::format("X{}{}{}", info.param.count, info.param.transposed ? "Trans" : "",
                     info.param.generic ? "Generic" : "");
}

INSTANTIATE_TEST_SUITE_P(All, Matrices,
                         testing::Values(Form{1, false, false}, Form{2, false, false},
                                         Form{4, false, false}, Form{1, true, false},
                                         Form{2, true, false}, Form{4, true, false},
                                         Form{4, false, true}, Form{2, true, true}),
                         test_name);

TEST(MatricesOfGenericAddresses, HaveToBeInSharedMemory) {
  const Emulated done = emulate(kernel_text(
      ".shared .align 16 .b8 tile[512];\n"
      "ldmatrix.sync.aligned.m8n8.x1.b16 {%r10}, [%w0];\nst.global.u32 [%w2], %r10;\n"));
  EXPECT_THAT(done.findings(), ElementsAre(HasSubstr("out_of_bounds")));
}

TEST(MatricesOfOtherForms, AreNotCovered) {
  for (const char* form : {"m8n8.b16", "m16n16.x1.trans.shared.b8", "m8n8.x8.shared.b16",
                           "m8n8.x1.shared.b16.later"}) {
    try {
      (void)emulate(kernel_text(fmt::format("ldmatrix.sync.aligned.{} {{%r1}}, [%r2];\n", form)));
      ADD_FAILURE() << form;
    } catch (const std::exception& error) {
      EXPECT_THAT(error.what(), HasSubstr("not covered")) << form;
    }
  }
}

}  // namespace
}  // namespace fatune::emulate
