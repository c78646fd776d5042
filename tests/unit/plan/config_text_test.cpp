#include "plan/config_text.hpp"

#include <gmock/gmock.h>

#include "plan/kernel_name.hpp"
#include "plan/planner.hpp"
#include "plan/short_form.hpp"
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

TEST(ConfigText, EveryConfigurationOfEverySpaceRoundTrips) {
  std::size_t configs = 0;
  const FileTree tree;
  for (const SpaceInfo& info : list_spaces(tree, flash())) {
    for (const SpacePart& part : load_space(tree, flash(), info.key).parts) {
      for (const Config& config : part.configs) {
        ++configs;
        ASSERT_EQ(parse_config(flash(), short_form(flash(), config)), config);
        ASSERT_EQ(parse_config(flash(), "| " + short_form(flash(), config) + " |"), config);
        ASSERT_EQ(parse_config(flash(), "void " + kernel_name(flash(), config) + "(Args)"), config);
        ASSERT_EQ(parse_config(flash(), typed_form(config)), config);
        const std::string json = config_to_json(flash(), config).dump();
        ASSERT_EQ(config_from_json(flash(), nlohmann::json::parse(json)), config);
      }
    }
  }
  EXPECT_EQ(configs, 256U + 7U + 84U + (256U + 84U) + 256U);  // the slices make up tune again
}

TEST(ConfigText, JsonNamesValuesInOrder) {
  const Config config = fixtures::flash_config("(BF16, 64, 128, 32, 8): async+load_0_2_2_tiles");
  EXPECT_EQ(config_to_json(flash(), config).dump(),
            R"({"dtype":"BF16","d_head":64,"B_r":128,"B_c":32,"n_warps":8,"async_copy":true,)"
            R"("eager_load_blocks":false,"swizzled":false,"Q_mma_load_K_tiles":0,)"
            R"("K_mma_load_K_tiles":2,"V_mma_load_K_tiles":2,"mma_double_buffer_loads":false,)"
            R"("optimized_softmax":false})");
}

TEST(ConfigText, JsonErrorsNameTheMember) {
  const Config config = fixtures::flash_config("(BF16, 64, 128, 32, 8): load_0_2_2_tiles");
  const nlohmann::json good = config_to_json(flash(), config);
  const auto expect_bad = [](const nlohmann::json& value, const std::vector<std::string>& parts) {
    fixtures::expect_error([&] { (void)config_from_json(flash(), value); }, ExitCode::usage, parts);
  };
  nlohmann::json bad = good;
  bad.erase("B_r");
  expect_bad(bad, {"has no 'B_r'"});
  bad = good;
  bad["B_r"] = "64";
  expect_bad(bad, {"\"64\" is not a value of B_r", "64, 128, 256"});
  bad["B_r"] = -64;
  expect_bad(bad, {"'-64' is not a value of B_r"});
  bad["B_r"] = 64.5;
  expect_bad(bad, {"64.5 is not a value of B_r"});
  bad = good;
  bad["dtype"] = 5;
  expect_bad(bad, {"5 is not a value of dtype", "FP16, BF16"});
  bad["dtype"] = "\xff";
  expect_bad(bad, {"is not a value of dtype"});
  bad = good;
  bad["swizzled"] = 1;
  expect_bad(bad, {"1 is not a value of swizzled"});
  bad = good;
  bad["b_r"] = 64;
  expect_bad(bad, {"no parameter 'b_r'"});
  expect_bad(nlohmann::json::array(), {"is an object, not array"});
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
