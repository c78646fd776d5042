#include "plan/config_text.hpp"

#include <gmock/gmock.h>

#include "plan/planner.hpp"
#include "plan/space.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using fixtures::flash;

std::string typed_form(const Config& config) {
  std::string text = "FlashForwardKernelConfig{";
  for (std::size_t i = 0; i < config.values.size(); ++i) {
    const ParameterType type = flash().parameters[i].type;
    text += i == 0 ? "" : ", ";
    text += type == ParameterType::enumeration ? "(c10::ScalarType)"
            : type == ParameterType::boolean   ? "(bool)"
                                               : "(int)";
    text += std::to_string(config.values[i]);
  }
  return text + "}";
}

/// Takes only one in a thousand configurations of a large space.
TEST(ConfigText, EveryConfigurationOfEverySpaceRoundTrips) {
  std::size_t configs = 0;
  const FileTree tree;
  for (const SpaceInfo& info : list_spaces(tree, flash())) {
    for (const SpacePart& part : load_space(tree, flash(), info.key).parts) {
      const std::size_t step = part.configs.size() > 10'000 ? 1000 : 1;
      for (std::size_t number = 0; const Config& config : part.configs) {
        if (number++ % step != 0) {
          continue;
        }
        ++configs;
        ASSERT_EQ(parse_config(flash(), short_form(flash(), config)), config);
        ASSERT_EQ(parse_config(flash(), "| " + short_form(flash(), config) + " |"), config);
        ASSERT_EQ(parse_config(flash(), "void " + kernel_name(flash(), config) + "(Args)"), config);
        ASSERT_EQ(parse_config(flash(), typed_form(config)), config);
      }
    }
  }
  // tune_wide has 4 head dimensions; the slices make up tune again
  EXPECT_EQ(configs, 4U * 144U + 256U + 7U + 84U + (256U + 84U) + 256U);
}

TEST(ConfigText, NamedValuesAreTexts) {
  const Config config = fixtures::flash_config("(BF16, 64, 128, 32, 8): async+load_0_2_2_tiles");
  const std::vector<NamedValue> values = named_values(flash(), config);
  ASSERT_EQ(values.size(), 13U);
  EXPECT_EQ(values[0].name, "dtype");
  EXPECT_EQ(values[0].text, "BF16");
  EXPECT_EQ(values[5].text, "true");
  EXPECT_EQ(values[9].text, "2");
}

TEST(ConfigText, ABrokenKernelNameIsAnsweredAsAKernelName) {
  fixtures::expect_error(
      [] { (void)parse_config(flash(), "flash_forward_kernel<FlashForwardKernelConfig{5}>"); },
      ExitCode::usage, {"flash_forward_kernel<FlashForwardKernelConfig{dtype, d_head"});
  fixtures::expect_error([] { (void)parse_config(flash(), "(FP16"); }, ExitCode::usage,
                         {"(dtype, d_head, B_r, B_c, n_warps): async"});
}

}  // namespace
}  // namespace fatune
