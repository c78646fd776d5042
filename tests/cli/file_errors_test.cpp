// Tests errors in the user's files: each error names the file, the place in it and a remedy.
#include "cli/program.hpp"

#include <filesystem>

namespace fatune::testing_cli {
namespace {

class FileErrors : public ProgramTest {
 protected:
  void copy_toy() const {
    std::filesystem::copy(kToyFolder, path("toy"), std::filesystem::copy_options::recursive);
  }
};

TEST_F(FileErrors, AKernelFolderThatIsNotThere) {
  expect_error(fatune({"list", "--kernel-dir", path("nowhere")}), ExitCode::bad_file, {"nowhere"});
}

TEST_F(FileErrors, AKernelFolderWithoutAFamily) {
  write("empty/readme.txt", "nothing");
  expect_error(fatune({"list", "--kernel-dir", path("empty")}), ExitCode::bad_file,
               {"empty", "family.json"});
}

TEST_F(FileErrors, AFamilyThatIsNoJson) {
  write("toy/family.json", "{\"name\": \"toy\",\n  oops");
  expect_error(fatune({"list", "--kernel-dir", path("toy")}), ExitCode::bad_file,
               {"family.json", "line 2"});
}

TEST_F(FileErrors, AFamilyThatViolatesItsSchema) {
  copy_toy();
  std::string text = read("toy/family.json");
  text.replace(text.find("\"int\""), 5, "\"integer\"");
  write("toy/family.json", text);
  expect_error(fatune({"list", "--kernel-dir", path("toy")}), ExitCode::bad_file,
               {"family.json", "/parameters/"});
}

TEST_F(FileErrors, AFamilyWithAnExpressionOfUnknownNames) {
  copy_toy();
  std::string text = read("toy/family.json");
  const std::string known = "ceil_div(seq_len, BLOCK_ROWS)";
  text.replace(text.find(known), known.size(), "ceil_div(seq_len, ROWS)");
  write("toy/family.json", text);
  expect_error(fatune({"list", "--kernel-dir", path("toy")}), ExitCode::bad_file,
               {"family.json", "/launch/grid/0", "ROWS", "BLOCK_ROWS"});
}

TEST_F(FileErrors, ADivisionByZeroInARuleIsNoReasonToPrune) {
  write("zero.json", R"({"family": "flash_sm80", "summary": "divides by zero", "configs": [{
      "list": ["(FP16, 128, 64, 64, 4): async+load_0_2_2_tiles"]}], "rules": [
      {"id": "per-warp", "drops_when": "B_r / (n_warps - 4) > 8", "reason": "too many rows"}]})");
  expect_error(fatune({"list", "--space", path("zero.json")}), ExitCode::bad_file,
               {path("zero.json"), "/rules/0/drops_when", "B_r / (n_warps - 4) > 8", "B_r = 64",
                "n_warps = 4", "divided by zero"});
}

TEST_F(FileErrors, ADivisionByZeroInAFamilyIsAnError) {
  copy_toy();
  std::string text = read("toy/family.json");
  const std::string list = "\"validity\": [";
  text.replace(
      text.find(list), list.size(),
      R"("validity": [{"id": "rows", "must_hold": "1 / (UNROLL - 1) > 0", "reason": "no"},)");
  write("toy/family.json", text);
  expect_error(fatune({"list", "--kernel-dir", path("toy")}), ExitCode::bad_file,
               {path("toy/family.json"), "/validity/0/must_hold", "1 / (UNROLL - 1) > 0",
                "UNROLL = 1", "divided by zero"});
}

TEST_F(FileErrors, AGridThatCannotBeNamesTheUsersFile) {
  copy_toy();
  std::string text = read("toy/family.json");
  const std::string grid = "\"ceil_div(seq_len, BLOCK_ROWS)\"";
  text.replace(text.find(grid), grid.size(), "\"0\"");
  write("toy/family.json", text);
  expect_error(fatune({"compile", "--kernel-dir", path("toy")}), ExitCode::bad_file,
               {path("toy/family.json") + ": /launch/grid/0", "outside 1 to"});
}

TEST_F(FileErrors, ASpaceFileThatIsNotThere) {
  expect_error(fatune({"list", "--space", path("my.json")}), ExitCode::bad_file, {"my.json"});
}

TEST_F(FileErrors, ASpaceFileThatIsNestedTooDeep) {
  write("deep.json", std::string(100000, '['));
  expect_error(fatune({"list", "--space", path("deep.json")}), ExitCode::bad_file, {"deep.json"});
}

TEST_F(FileErrors, ASpaceFileOfBytesThatAreNoText) {
  write("bytes.json", std::string_view("\xff\xfe\x00{", 4));
  expect_error(fatune({"list", "--space", path("bytes.json")}), ExitCode::bad_file, {"bytes.json"});
}

}  // namespace
}  // namespace fatune::testing_cli
