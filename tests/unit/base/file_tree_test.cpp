#include "base/file_tree.hpp"

#include <gmock/gmock.h>

#include "unit/base/temp_folder.hpp"
#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kOwnFamily = R"({"name": "mine"})";

TEST(FileTree, CarriesTheKernelsAndConfigs) {
  const FileTree tree;
  EXPECT_THAT(tree.read("kernels/common/attention_args.h"), HasSubstr("AttentionForwardArgs"));
  EXPECT_THAT(tree.list("configs/spaces/"), Contains("configs/spaces/tune.json"));
  EXPECT_TRUE(tree.contains("kernels/flash_sm80/family.json"));
  EXPECT_EQ(tree.origin("configs/spaces/tune.json"), "<built in>/configs/spaces/tune.json");
}

TEST(FileTree, AMissingFileIsAnError) {
  const FileTree tree;
  EXPECT_FALSE(tree.contains("kernels/none"));
  EXPECT_FALSE(tree.contains(""));
  fixtures::expect_error([&] { (void)tree.read("kernels/../CMakeLists.txt"); }, ExitCode::bad_file,
                         {"kernels/../CMakeLists.txt", "no such file"});
}

TEST(FileTree, AFamilyFolderGoesUnderItsOwnName) {
  const fixtures::TempFolder folder;
  folder.write("family.json", kOwnFamily);
  folder.write("sub/tile.cuh", "// tile");
  FileTree tree;
  tree.overlay_kernels(folder.path());
  EXPECT_EQ(tree.read("kernels/mine/sub/tile.cuh"), "// tile");
  EXPECT_EQ(tree.origin("kernels/mine/family.json"), (folder.path() / "family.json").string());
  EXPECT_TRUE(tree.contains("kernels/flash_sm80/family.json"));
}

TEST(FileTree, AFolderOfFamiliesAddsAll) {
  const fixtures::TempFolder folder;
  folder.write("a/family.json", R"({"name": "first"})");
  folder.write("b/family.json", R"({"name": "second"})");
  folder.write("common/attention_args.h", "// theirs");
  FileTree tree;
  tree.overlay_kernels(folder.path());
  EXPECT_THAT(tree.list("kernels/first/"), ElementsAre("kernels/first/family.json"));
  EXPECT_TRUE(tree.contains("kernels/second/family.json"));
  EXPECT_EQ(tree.read("kernels/common/attention_args.h"), "// theirs");
}

TEST(FileTree, AFamilyIsReplacedAsAWhole) {
  const fixtures::TempFolder folder;
  folder.write("family.json", R"({"name": "flash_sm80"})");
  FileTree tree;
  tree.overlay_kernels(folder.path());
  EXPECT_THAT(tree.list("kernels/flash_sm80/"), ElementsAre("kernels/flash_sm80/family.json"));
  EXPECT_FALSE(tree.contains("kernels/flash_sm80/flash_forward.cu"));
}

TEST(FileTree, AFileIsReadWhenItIsAskedFor) {
  const fixtures::TempFolder folder;
  folder.write("family.json", kOwnFamily);
  folder.write("kernel.cu", "old");
  FileTree tree;
  tree.overlay_kernels(folder.path());
  folder.write("kernel.cu", "new");
  EXPECT_EQ(tree.read("kernels/mine/kernel.cu"), "new");
}

TEST(FileTree, RefusesWhatIsNoKernelFolder) {
  const fixtures::TempFolder empty;
  FileTree tree;
  fixtures::expect_error([&] { tree.overlay_kernels(empty.path()); }, ExitCode::bad_file,
                         {empty.path().string(), "holds no kernel family", "family.json"});
  fixtures::expect_error([&] { tree.overlay_kernels("/no/such/folder"); }, ExitCode::bad_file,
                         {"/no/such/folder", "is not a folder"});
}

TEST(FileTree, RefusesAFamilyWhoseNameIsAPath) {
  const fixtures::TempFolder folder;
  const std::string file = folder.write("family.json", R"({"name": "../common"})").string();
  FileTree tree;
  fixtures::expect_error([&] { tree.overlay_kernels(folder.path()); }, ExitCode::bad_file,
                         {file, "/name", "cannot be a family's name"});
}

TEST(DiskFile, SaysWhyItCannotBeRead) {
  const fixtures::TempFolder folder;
  fixtures::expect_error([&] { (void)read_disk_file(folder.path()); }, ExitCode::bad_file,
                         {"is a folder"});
  fixtures::expect_error([&] { (void)read_disk_file(folder.path() / "none"); }, ExitCode::bad_file,
                         {"none", "cannot be opened"});
  const auto large = folder.write("large", std::string(5000, 'x'));
  EXPECT_EQ(read_disk_file(large, 5000).size(), 5000U);
  fixtures::expect_error([&] { (void)read_disk_file(large, 4999); }, ExitCode::bad_file,
                         {"is larger than 4999 bytes"});
}

TEST(DiskFile, KeepsEveryByte) {
  const fixtures::TempFolder folder;
  const std::string bytes{'\0', '\r', '\n', '\x1a', '\xff'};
  EXPECT_EQ(read_disk_file(folder.write("bytes", bytes)), bytes);
}

}  // namespace
}  // namespace fatune
