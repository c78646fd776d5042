#include "unit/emulator/operations/operation_case.hpp"

#include <array>
#include <cstring>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "unit/emulator/emulated_kernel.hpp"

namespace fatune::emulate {
namespace {

std::string loads() {
  std::string text;
  for (int i = 0; i < 3; ++i) {
    text += fmt::format(
        "ld.global.u64 %w{0}, [%w0+{1}];\nld.global.u32 %r{0}, [%w0+{1}];\n"
        "ld.global.u16 %h{0}, [%w0+{1}];\nld.global.f32 %f{0}, [%w0+{1}];\n"
        "ld.global.f64 %d{0}, [%w0+{1}];\n",
        10 + i, 8 * i);
  }
  return text;
}

std::string store(const std::string& text) {
  const auto writes = [&](const char* name) {
    return text.find(std::string(" ") + name + ",") != std::string::npos;
  };
  return writes("%w3")   ? "st.global.u64 [%w1], %w3;"
         : writes("%d3") ? "st.global.f64 [%w1], %d3;"
         : writes("%r3") ? "st.global.u32 [%w1], %r3;"
         : writes("%f3") ? "st.global.f32 [%w1], %f3;"
         : writes("%h3") ? "st.global.u16 [%w1], %h3;"
                         : "selp.u32 %r4, 1, 0, %p3;\nst.global.u32 [%w1], %r4;";
}

}  // namespace

std::uint64_t result_of(const OperationCase& operation) {
  Trial trial;
  trial.threads = 1;
  const std::array<std::uint64_t, 3> operands{operation.a, operation.b, operation.c};
  std::memcpy(trial.input.data(), operands.data(), sizeof(operands));
  const Emulated done =
      emulate(kernel_text(loads() + operation.text + ";\n" + store(operation.text)), trial);
  EXPECT_THAT(done.findings(), testing::IsEmpty()) << operation.text;
  return done.stored();
}

void expect_result(const OperationCase& operation) {
  const std::uint64_t result = result_of(operation);
  EXPECT_EQ(result, operation.expected)
      << fmt::format("{} of {:#x}, {:#x}, {:#x}: {:#x}, expected {:#x}", operation.text,
                     operation.a, operation.b, operation.c, result, operation.expected);
}

}  // namespace fatune::emulate
