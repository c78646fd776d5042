#include "plan/included_files.hpp"

#include <gmock/gmock.h>

#include "plan/family.hpp"
#include "unit/data/temp_folder.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(IncludedNames, AreThoseOfIncludeLines) {
  EXPECT_THAT(included_names("#include <a.h>\n  #  include \"b/c.h\" // why\n#include A\n"
                             "// #include <not.h>\n#define include <no.h>\n#include <d.h"),
              ElementsAre("a.h", "b/c.h"));
  EXPECT_THAT(included_names(""), IsEmpty());
}

std::vector<std::string> names_of(const std::vector<SourceFile>& files) {
  std::vector<std::string> names;
  for (const SourceFile& file : files) {
    names.push_back(file.name);
  }
  return names;
}

/// The toy family with another source, and folders for the files that it includes.
class IncludedFiles : public ::testing::Test {
 protected:
  IncludedFiles() { folder_.write("family.json", fixtures::toy_json().dump()); }

  [[nodiscard]] SourceBundle bundle(const std::string& source) {
    folder_.write("toy_attention.cu", source);
    FileTree tree;
    tree.overlay_kernels(folder_.path());
    return *load_family(tree, "toy_attention", IncludePaths({outside_.path()}))
                .sources.items.at(0)
                .value;
  }

  fixtures::TempFolder folder_;
  fixtures::TempFolder outside_;
};

TEST_F(IncludedFiles, NobodyPaysForWhatHeDoesNotInclude) {
  outside_.write("other.h", "");
  const SourceBundle plain = bundle("#include \"common/attention_args.h\"\n#include <nowhere.h>\n");
  EXPECT_THAT(plain.include_folders, IsEmpty());
  EXPECT_THAT(plain.included, IsEmpty());
  const SourceBundle& flash = *fixtures::flash().sources.items.at(0).value;
  EXPECT_THAT(flash.include_folders, IsEmpty());
}

TEST_F(IncludedFiles, AFamilysSubfoldersAreFoundFromBesideAndFromTheTop) {
  folder_.write("parts/first.cuh", "#include \"second.cuh\"\n");
  folder_.write("parts/second.cuh", "#include \"parts/third.cuh\"\n");
  folder_.write("parts/third.cuh", "");
  const SourceBundle sources = bundle("#include \"parts/first.cuh\"\n");
  EXPECT_THAT(names_of(sources.headers), Contains("parts/first.cuh"));
  EXPECT_THAT(names_of(sources.headers), Contains("second.cuh"));
  EXPECT_THAT(names_of(sources.headers), Contains("parts/third.cuh"));
  EXPECT_THAT(sources.include_folders, IsEmpty());
}

TEST_F(IncludedFiles, WhatIsInOtherFoldersIsReadToItsEnd) {
  outside_.write("lib/a.h", "#include \"b.h\"\n#include <gone.h>\n");
  outside_.write("lib/b.h", "#include \"lib/a.h\"\nint b;");
  outside_.write("lib/c.h", "");
  const SourceBundle sources = bundle("#include <lib/a.h>\n");
  EXPECT_THAT(sources.include_folders, Contains(outside_.path().string()));
  EXPECT_THAT(names_of(sources.included), ElementsAre("lib/a.h", "b.h"));
  EXPECT_THAT(sources.included[1].text, "#include \"lib/a.h\"\nint b;");
  EXPECT_THAT(names_of(sources.headers), Not(Contains("lib/a.h")));
}

TEST(IncludePathsTest, RefusesWhatIsNoFolder) {
  fixtures::expect_error([] { IncludePaths({"/nowhere/at/all"}); }, ExitCode::usage,
                         {"/nowhere/at/all", "--include"});
}

}  // namespace
}  // namespace fatune
