#include "plan/source_bundle.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "plan/family.hpp"
#include "unit/base/temp_folder.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(IncludedNames, AreThoseOfDirectives) {
  EXPECT_THAT(included_names("#include <a.h>\n  #  include \"b/c.h\" // why\n#include A\n"
                             "x<T>(\"no.h\");\n#if A < B && C > D\n#include <d.h"),
              ElementsAre("a.h", "b/c.h"));
  EXPECT_THAT(included_names(""), IsEmpty());
}

// A header that one of these names was not in the cache key once.
TEST(IncludedNames, AreFoundInEveryWayOfWritingThem) {
  for (const char* text : {"#include/**/\"h.h\"",
                           "#/* x */include <h.h>",
                           "/* x */ # include <h.h>",
                           "#include /* x\n y */ <h.h>",
                           "/* x\n y */ #include <h.h>",
                           "#include \\\n<h.h>",
                           "#include \\\r\n<h.h>\r\n",
                           "#inc\\\nlude <h.h>",
                           "%:include <h.h>",
                           "\?\?=include <h.h>",
                           "#define H <h.h>\n#include H",
                           "#define H \"h.h\"\n#include H",
                           "#include_next <h.h>",
                           "#if __has_include(<h.h>)",
                           "#if defined A && \\\n __has_include ( \"h.h\" )",
                           "#import \"h.h\"",
                           "#embed <h.h>",
                           "  %:  include \"h.h\"",
                           "#include<h.h>",
                           "#define A(x) <h.h>"}) {
    EXPECT_THAT(included_names(text), ElementsAre("h.h")) << text;
  }
}

// Each of these took time that grew with the square of its size: hours.
TEST(IncludedNames, OfLargeTextsTakeNoLonger) {
  std::string lines = "#/* ";
  for (int i = 0; i < 1'000'000; ++i) {
    lines += "x\n";
  }
  EXPECT_THAT(included_names(lines), IsEmpty());
  EXPECT_THAT(included_names("#" + std::string(4'000'000, '<')), IsEmpty());
}

std::vector<std::string> names_of(const std::vector<SourceFile>& files) {
  std::vector<std::string> names;
  for (const SourceFile& file : files) {
    names.push_back(file.name);
  }
  return names;
}

std::string header(const SourceBundle& sources, const std::string& name) {
  const auto found = std::ranges::find(sources.headers, name, &SourceFile::name);
  return found == sources.headers.end() ? "there is no " + name : found->text;
}

/// The toy family with another source, and folders for the files that it includes.
class IncludedFiles : public ::testing::Test {
 protected:
  IncludedFiles() { folder_.write("family.json", fixtures::toy_json().dump()); }

  [[nodiscard]] SourceBundle bundle(const std::string& source) {
    folder_.write("toy_attention.cu", source);
    FileTree tree;
    tree.overlay_kernels(folder_.path());
    return *load_family(tree, "toy_attention", {IncludePaths({outside_.path()}), {}})
                .sources.items.at(0)
                .value;
  }

  fixtures::TempFolder folder_;
  fixtures::TempFolder outside_;
};

TEST_F(IncludedFiles, NobodyPaysForWhatHeDoesNotInclude) {
  outside_.write("other.h", "");
  const SourceBundle plain = bundle("#include \"common/attention_args.h\"\n#include <nowhere.h>\n");
  EXPECT_THAT(names_of(plain.headers), Each(StartsWith("common/")));
}

TEST_F(IncludedFiles, AFamilysSubfoldersAreFoundFromBesideAndFromTheTop) {
  folder_.write("parts/first.cuh", "#include \"second.cuh\"\n");
  folder_.write("parts/second.cuh", "#include \"parts/third.cuh\"\n");
  folder_.write("parts/third.cuh", "");
  const SourceBundle sources = bundle("#include \"parts/first.cuh\"\n");
  EXPECT_THAT(names_of(sources.headers), Contains("parts/first.cuh"));
  EXPECT_THAT(names_of(sources.headers), Contains("second.cuh"));
  EXPECT_THAT(names_of(sources.headers), Contains("parts/third.cuh"));
}

TEST_F(IncludedFiles, WhatIsInOtherFoldersIsReadToItsEnd) {
  outside_.write("lib/a.h", "#include \"b.h\"\n#include <gone.h>\n");
  outside_.write("lib/b.h", "#include \"lib/a.h\"\nint b;");
  outside_.write("lib/c.h", "");
  const SourceBundle sources = bundle("#include <lib/a.h>\n");
  EXPECT_EQ(header(sources, "lib/a.h"), "#include \"b.h\"\n#include <gone.h>\n");
  EXPECT_EQ(header(sources, "b.h"), "#include \"lib/a.h\"\nint b;");
  EXPECT_THAT(names_of(sources.headers), Not(Contains("lib/c.h")));
}

// The compiler finds headers by the names alone that they are given under.
TEST_F(IncludedFiles, AFileHasOneNameAndANameOneFile) {
  outside_.write("one/a.h", "#include \"part.h\"\n");
  outside_.write("two/a.h", "#include \"part.h\"\n#include <one/part.h>\n");
  outside_.write("one/part.h", "int one;");
  outside_.write("two/part.h", "int two;");
  const SourceBundle sources = bundle("#include <one/a.h>\n#include <two/a.h>\n");
  const std::string second = (outside_.path() / "two/part.h").string();
  EXPECT_EQ(header(sources, "part.h"), "int one;");
  EXPECT_EQ(header(sources, second), "int two;");
  EXPECT_EQ(header(sources, "two/a.h"), "#include \"" + second + "\"\n#include <part.h>\n");
  EXPECT_THAT(names_of(sources.headers), Not(Contains("one/part.h")));
}

TEST_F(IncludedFiles, ThatLieInNoNamedFolderAreNotRead) {
  const fixtures::TempFolder elsewhere;
  elsewhere.write("secret.h", "");
  const std::string name = (elsewhere.path() / "secret.h").string();
  const std::string up = "../" + elsewhere.path().filename().string() + "/secret.h";
  const SourceBundle sources = bundle("#include \"" + name + "\"\n#include <" + up + ">\n");
  EXPECT_THAT(names_of(sources.headers), Each(StartsWith("common/")));
}

TEST_F(IncludedFiles, MayBeNamedByTheirPathInANamedFolder) {
  outside_.write("a.h", "int a;");
  const std::string name = (outside_.path() / "a.h").string();
  EXPECT_EQ(header(bundle("#include \"" + name + "\"\n"), name), "int a;");
}

TEST_F(IncludedFiles, ThatAreLinksOutOfTheFolderAreRefused) {
  const fixtures::TempFolder elsewhere;
  elsewhere.write("secret", "key");
  const auto secret = elsewhere.path() / "secret";
  std::filesystem::create_symlink(secret, folder_.path() / "secret.cuh");
  fixtures::expect_error(
      [&] { (void)bundle(""); }, ExitCode::bad_file,
      {"secret.cuh", "leads out of the folder, to " + secret.string(), "--include"});
}

TEST_F(IncludedFiles, MayBeLinksWithinTheFolder) {
  folder_.write("parts/a.cuh", "int a;");
  std::filesystem::create_symlink("parts/a.cuh", folder_.path() / "b.cuh");
  EXPECT_EQ(header(bundle(""), "toy_attention/b.cuh"), "int a;");
}

TEST(IncludePathsTest, RefusesWhatIsNoFolder) {
  fixtures::expect_error([] { IncludePaths({"/nowhere/at/all"}); }, ExitCode::usage,
                         {"/nowhere/at/all", "--include"});
}

}  // namespace
}  // namespace fatune
