// Tests lines of source, PTX and machine code through the program. Every test compiles and
// disassembles.
#include "cli/sass_program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class SassMap : public SassTest {};

TEST_F(SassMap, WhatIsNoLineIsRefused) {
  const auto map = [&](const char* option, const char* text) {
    return fatune({"sass", "map", "--config", kConfig, option, text});
  };
  expect_error(map("--source", "softmax.cuh"), ExitCode::usage, {"--source", "FILE:LINE"});
  expect_error(map("--source", "softmax.cuh:0"), ExitCode::usage,
               {"--source", "0 is out of range"});
  expect_error(map("--ptx", "x"), ExitCode::usage, {"--ptx", "'x'"});
  expect_error(map("--sass", "0xzz"), ExitCode::usage, {"--sass", "hexadecimal"});
  expect_error(fatune({"sass", "map", "--config", kConfig, "--ptx", "1", "--sass", "0x10"}),
               ExitCode::usage, {"--sass"});
  expect_error(fatune({"sass", "map"}), ExitCode::usage, {"--config", "--run"});
}

TEST_F(SassMap, WithoutADisassemblerItSaysHowToGetOne) {
  process_.environment["FATUNE_NVDISASM"] = path("nowhere");
  expect_error(fatune({"sass", "map", "--config", kConfig}), ExitCode::bad_file, {"nowhere"});
}

class LiveSassMap : public LiveSassTest {
 protected:
  std::vector<std::string> command(const std::vector<std::string>& more) {
    std::vector<std::string> all{"sass", "map", "--config", kConfig, "--arch", "sm_80"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  json map(std::vector<std::string> more) {
    more.insert(more.end(), {"--format", "json"});
    const ProcessResult result = fatune(command(more));
    expect_ok(result);
    expect_schema(result.out, "sass_map");
    return json::parse(result.out);
  }
};

const json& line_with(const json& lines, const std::string& text) {
  for (const json& line : lines) {
    if (line["text"].is_string() &&
        line["text"].get<std::string>().find(text) != std::string::npos) {
      return line;
    }
  }
  throw std::out_of_range(text);
}

TEST_F(LiveSassMap, LineInformationDoesNotChangeWhatIsCounted) {
  const json plain =
      fatune_json({"sass", "--config", kConfig, "--arch", "sm_80", "--format", "json"});
  const json mapped = map({});
  EXPECT_EQ(mapped["instructions"], plain["instructions"]);
  EXPECT_EQ(mapped["main_loop_instructions"], plain["main_loop"]["instructions"]);
  std::int64_t own = mapped["without_line"];
  for (const json& line : mapped["lines"]) {
    own += line["total"].get<std::int64_t>();
  }
  EXPECT_EQ(own, mapped["instructions"]);
}

TEST_F(LiveSassMap, TheTensorInstructionsAreWrittenInTheirWrapper) {
  const json lines = map({})["lines"];
  EXPECT_EQ(lines[0]["file"], "common/ptx_mma.cuh");
  const json plain =
      fatune_json({"sass", "--config", kConfig, "--arch", "sm_80", "--format", "json"});
  EXPECT_EQ(lines[0]["tensor"], row_of(plain["classes"], "tensor")["main_loop"]);
}

TEST_F(LiveSassMap, ALineLeadsToItsInstructionsAndEachOfThemBack) {
  const json line = line_with(map({})["lines"], "ex2.approx");
  const std::string name =
      line["file"].get<std::string>() + ":" + std::to_string(line["line"].get<int>());
  const json selection = map({"--source", name, "--depth", "1"})["selection"];
  EXPECT_EQ(selection["sass"].size(), line["total_with_inlined"]);
  for (const json& statement : selection["ptx"]) {
    if (statement["depth"] == 0) {
      EXPECT_THAT(statement["text"].get<std::string>(), HasSubstr("ex2.approx.ftz.f32"));
    }
  }
  const json& first = selection["sass"][0];
  EXPECT_EQ(first["class"], "mufu");
  const json back = map({"--sass", first["address"]})["selection"];
  EXPECT_THAT(back["source"][0]["text"].get<std::string>(), HasSubstr("ex2.approx"));
  const json from_ptx = map({"--ptx", std::to_string(first["ptx_line"].get<int>())})["selection"];
  EXPECT_EQ(from_ptx["sass"][0]["ptx_line"], first["ptx_line"]);
  EXPECT_EQ(from_ptx["source"], back["source"]);
}

TEST_F(LiveSassMap, TextForPeople) {
  EXPECT_THAT(fatune(command({"--top", "3"})).out,
              AllOf(HasSubstr("classes in the loop"), HasSubstr("(--top 0 shows all)")));
  EXPECT_THAT(fatune(command({"--annotate"})).out, HasSubstr("== flash_sm80/softmax.cuh\n"));
  EXPECT_THAT(fatune(command({"--ptx-text"})).out, HasSubstr(".target sm_80"));
  EXPECT_THAT(fatune(command({"--source", "softmax.cuh:1", "--format", "md"})).err,
              HasSubstr("the nearest lines with code"));
  EXPECT_THAT(fatune(command({"--format", "csv", "--sass", "0x10"})).out,
              testing::StartsWith("address,text,class,main_loop,ptx_line,source\r\n0x0010,"));
}

}  // namespace
}  // namespace fatune::testing_cli
