#include "cli/command_page.hpp"

#include <vector>

#include <gmock/gmock.h>

#include "unit/cli/samples.hpp"

namespace fatune {
namespace {

std::string completed(const std::vector<std::string>& typed) {
  return completions(sample_program(), typed);
}

TEST(Completions, AreCommandsWithTheirSummaries) {
  EXPECT_EQ(completed({}), "\n\ntune\tIsn't [it] a\\b: `x`?\n");
  EXPECT_EQ(completed({"tu"}), completed({}));
  EXPECT_EQ(completed({"unknown", ""}), "\n\n");
}

TEST(Completions, AreOptionsThatCanStillBeGiven) {
  const std::string all = "\n\n-o\ta 'file'\n--out\ta 'file'\n--kinds\tx\n--count\tx\n--fast\tx\n";
  EXPECT_EQ(completed({"tune", "-"}), all);
  EXPECT_EQ(completed({"tune", "--out", "a", "--count", "--"}),
            "\n\n-o\ta 'file'\n--out\ta 'file'\n--kinds\tx\n--fast\tx\n")
      << "--out is repeatable, and a value of --count may be absent";
  EXPECT_EQ(completed({"tune", "--fast", "-"}), "\n\n-o\ta 'file'\n--out\ta 'file'\n--count\tx\n")
      << "--fast excludes --kinds";
}

TEST(Completions, AreValuesOfTheOptionBefore) {
  EXPECT_EQ(completed({"tune", "-o", ""}), "\nfiles \n-\n");
  EXPECT_EQ(completed({"tune", "--out", "=", "x"}), "\nfiles \n-\n") << "as bash splits it";
  EXPECT_EQ(completed({"tune", "--out", "="}), "\nfiles \n-\n");
  EXPECT_EQ(completed({"tune", "--out=x"}), "--out=\nfiles \n-\n");
  EXPECT_EQ(completed({"tune", "--kinds", "a,"}), "a,\nlist\nb\n");
  EXPECT_EQ(completed({"tune", "--kinds=b,a"}), "--kinds=b,\nlist\na\n");
}

TEST(Completions, AreArguments) {
  EXPECT_EQ(completed({"tune", ""}), "\nfolders \n");
  EXPECT_EQ(completed({"tune", "a", "b"}), "\nfolders \n") << "it is repeatable";
  EXPECT_EQ(completed({"tune", "--", "-"}), "\nfolders \n") << "no options after --";
}

}  // namespace
}  // namespace fatune
