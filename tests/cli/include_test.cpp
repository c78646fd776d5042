// Tests --include, and headers of the CUDA toolkit.
#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;

class Include : public ProgramTest {
 protected:
  /// Compiles one configuration of the toy family, which includes this header.
  json compile(const std::string& header, const std::string& statement,
               const std::vector<std::string>& more = {}) {
    if (folder_with_.empty()) {
      folder_with_ = toy_family_with(statement);
      source_ = read("toy_attention/toy_attention.cu");
    }
    write("toy_attention/toy_attention.cu", "#include <" + header + ">\n" + source_);
    std::vector<std::string> line{"compile",
                                  "--kernel-dir",
                                  folder_with_,
                                  "--cache-dir",
                                  path("cache"),
                                  "--config",
                                  "(FP16, 128, 32): unroll_1",
                                  "--format",
                                  "json"};
    line.insert(line.end(), more.begin(), more.end());
    return json::parse(fatune(line).out).at("configs").at(0);
  }

  std::string folder_with_;
  std::string source_;  ///< without an #include
};

TEST_F(Include, FindsHeadersAndNamesTheirContentsInTheKey) {
  write("headers/lib/outer.h", "#include \"inner.h\"\n");
  write("headers/lib/inner.h", "inline __device__ int answer() { return 42; }\n");
  const std::vector<std::string> include{"--include", path("headers")};
  const std::string use = "if (answer() == 7) { return; }";
  const json without = compile("lib/outer.h", use);
  EXPECT_EQ(without["status"], "compile_failed");
  const json first = compile("lib/outer.h", use, include);
  EXPECT_EQ(first["status"], "compiled") << first.dump(2);
  EXPECT_EQ(compile("lib/outer.h", use, include)["from_cache"], true);
  write("headers/lib/inner.h", "inline __device__ int answer() { return 43; }\n");
  const json changed = compile("lib/outer.h", use, include);
  EXPECT_EQ(changed["from_cache"], false);
  EXPECT_NE(changed["artifact_key"], first["artifact_key"]);
}

TEST_F(Include, WhatIsNoFolderIsRefused) {
  expect_error(fatune({"list", "--include", path("nowhere")}), ExitCode::usage,
               {"nowhere", "is not a folder"});
}

TEST_F(Include, TheToolkitsHeadersAreFound) {
  for (const char* header : {"cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "mma.h",
                             "cooperative_groups.h", "cuda_pipeline.h", "cuda/std/array"}) {
    const json row = compile(header, "");
    EXPECT_EQ(row["status"], "compiled") << row.dump(2);
  }
}

TEST_F(Include, AHalfIsAHalf) {
  const json row = compile("cuda_fp16.h", "if (__half2float(__half(1)) == 2.0f) { return; }");
  EXPECT_EQ(row["status"], "compiled") << row.dump(2);
}

}  // namespace
}  // namespace fatune::testing_cli
