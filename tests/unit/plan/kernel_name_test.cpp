#include "plan/config_text.hpp"

#include <gtest/gtest.h>

#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using fixtures::flash;

const Config& sample() {
  static const Config config{"flash_sm80", {5, 128, 64, 64, 4, 1, 1, 1, 0, 2, 0, 1, 1}};
  return config;
}

void expect_bad_name(const std::string& text, const std::vector<std::string>& parts) {
  fixtures::expect_error([&] { (void)parse_kernel_name(flash(), text); }, ExitCode::usage, parts);
}

TEST(KernelName, PrintsEachParameter) {
  EXPECT_EQ(kernel_name(flash(), sample()),
            "flash_forward_kernel<FlashForwardKernelConfig{5, 128, 64, 64, 4, 1, 1, 1, 0, 2, 0, 1, "
            "1}>");
}

TEST(KernelName, ReadsWhatProfilersPrint) {
  for (const char* text : {
           "flash_forward_kernel<FlashForwardKernelConfig{5, 128, 64, 64, 4, 1, 1, 1, 0, 2, 0, 1, "
           "1}>",
           "flash_forward_kernel<FlashForwardKernelConfig{5, 128, 64, 64, 4, 1, 1, 1, 0, 2, 0, 1, "
           "1}>(ForwardKernelArgs)",
           "void "
           "flash_forward_kernel<FlashForwardKernelConfig{5,128,64,64,4,1,1,1,0,2,0,1,1}>(const "
           "Args<int, (int)3> &)",
           "void flash::flash_forward_kernel<flash::FlashForwardKernelConfig{(c10::ScalarType)5, "
           "(int)128, (int)64, (int)64, (int)4, (bool)1, (bool)1, (bool)1, (int)0, (int)2, (int)0, "
           "(bool)1, (bool)1}>(flash::ForwardKernelArgs)",
           "FlashForwardKernelConfig{(c10::ScalarType)5, (int)128, (int)64, (int)64, (int)4, "
           "(bool)1, (bool)1, (bool)1, (int)0, (int)2, (int)0, (bool)1, (bool)1}",
           "FlashForwardKernelConfig{5, 128, 64, 64, 4, true, true, true, 0, 2, 0, true, true}",
           "  flash_forward_kernel < FlashForwardKernelConfig { 5 , 128 , 64 , 64 , 4 , 1 , 1 , 1 "
           ", "
           "0 , 2 , 0 , 1 , 1 } > ( ) ",
       }) {
    EXPECT_EQ(parse_kernel_name(flash(), text), sample()) << text;
  }
}

TEST(KernelName, NamesWhatItCannotRead) {
  expect_bad_name("FlashForwardKernelConfig", {"expected '{'", "it ends there"});
  expect_bad_name("FlashForwardKernelConfig{5, 128", {"expected ','", "it ends there"});
  expect_bad_name("FlashForwardKernelConfig{5, 128, 64, 64, 4, 1, 1, 1, 0, 2, 0, 1}",
                  {"expected ','"});
  expect_bad_name("FlashForwardKernelConfig{5, 128, 64, 64, 4, 1, 1, 1, 0, 2, 0, 1, 1, 1}",
                  {"expected '}'"});
  expect_bad_name("FlashForwardKernelConfig{6, 128, 64, 64, 4, 1, 1, 1, 0, 2, 0, 1, 1}",
                  {"'6' is not a value of dtype", "position 26"});
  expect_bad_name("FlashForwardKernelConfig{5, 128, 64, 64, 4, 2, 1, 1, 0, 2, 0, 1, 1}",
                  {"'2' is not a value of async_copy"});
  expect_bad_name("FlashForwardKernelConfig{5, (int 128", {"expected ')'"});
  expect_bad_name("other<FlashForwardKernelConfig{5}>", {"expected 'flash_forward_kernel'"});
  expect_bad_name("flash_forward_kernel<Other{5}>", {"expected 'FlashForwardKernelConfig'"});
  expect_bad_name(
      "flash_forward_kernel<FlashForwardKernelConfig{5, 128, 64, 64, 4, 1, 1, 1, 0, 2, 0, 1, 1}",
      {"expected '>'"});
  expect_bad_name(
      "flash_forward_kernel<FlashForwardKernelConfig{5, 128, 64, 64, 4, 1, 1, 1, 0, 2, 0, 1, 1}>(",
      {"no ')'"});
  expect_bad_name(
      "flash_forward_kernel<FlashForwardKernelConfig{5, 128, 64, 64, 4, 1, 1, 1, 0, 2, 0, 1, 1}>() "
      "x",
      {"expected the end"});
}

TEST(KernelName, IsToldFromAShortForm) {
  EXPECT_TRUE(looks_like_kernel_name(flash(), "x FlashForwardKernelConfig"));
  EXPECT_TRUE(looks_like_kernel_name(flash(), "flash_forward_kernel"));
  EXPECT_FALSE(looks_like_kernel_name(flash(), "(FP16, 128, 64, 64, 4): load_0_0_0_tiles"));
}

TEST(KernelName, AFamilyMayHaveNone) {
  const Family toy = load_family(fixtures::toy_tree(), "toy_attention");
  EXPECT_EQ(kernel_name(toy, {"toy_attention", {5, 128, 32, 1}}), "");
  EXPECT_FALSE(looks_like_kernel_name(toy, "toy_attention"));
  fixtures::expect_error([&] { (void)parse_kernel_name(toy, "toy_attention"); }, ExitCode::usage,
                         {"do not carry a configuration", "short form"});
}

}  // namespace
}  // namespace fatune
