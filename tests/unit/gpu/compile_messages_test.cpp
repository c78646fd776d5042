#include "gpu/compiler_processes.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

CompileJob job() {
  auto sources = std::make_shared<SourceBundle>();
  sources->main = {"k.cu", "// \xff is no UTF-8\n#include \"a.h\"\n"};
  sources->headers = {{"a.h", ""}, {"b.h", "int b;\n"}};
  return {sources,
          {"--gpu-architecture=sm_90a", "-DX=\"y\""},
          "k<1>",
          true,
          CompileOutput::cubin_and_ptx,
          std::string(64, 'a')};
}

TEST(CompileMessages, AJobComesBack) {
  const CompileJob sent = job();
  const CompileJob received = job_of(message_of(sent));
  EXPECT_EQ(received.sources->main.name, "k.cu");
  EXPECT_EQ(received.sources->main.text, sent.sources->main.text);
  ASSERT_EQ(received.sources->headers.size(), 2U);
  EXPECT_EQ(received.sources->headers[0].name, "a.h");
  EXPECT_EQ(received.sources->headers[1].text, "int b;\n");
  EXPECT_EQ(received.options, sent.options);
  EXPECT_EQ(received.entry_point, sent.entry_point);
  EXPECT_TRUE(received.entry_is_template);
  EXPECT_EQ(received.output, sent.output);
  EXPECT_EQ(received.key, sent.key);
}

TEST(CompileMessages, AnArtifactComesBack) {
  Artifact artifact;
  artifact.key = job().key;
  artifact.lowered_name = "_Z1k";
  artifact.cubin = {'\x7f', 'E', 'L', 'F', '\0'};
  artifact.ptx = ".version 9.0";
  artifact.compile_ms = 12.5;
  const CompileResult result = result_of(message_of(CompileResult(artifact)), artifact.key);
  const auto& received = std::get<Artifact>(result);
  EXPECT_EQ(received.lowered_name, artifact.lowered_name);
  EXPECT_EQ(received.cubin, artifact.cubin);
  EXPECT_EQ(received.ptx, artifact.ptx);
  EXPECT_EQ(received.compile_ms, artifact.compile_ms);
  EXPECT_FALSE(received.from_cache);
  EXPECT_THROW(static_cast<void>(result_of(message_of(CompileResult(artifact)), "another")),
               ProtocolError);
}

TEST(CompileMessages, AFailureComesBack) {
  const CompileResult result =
      result_of(message_of(CompileResult(CompileFailed{"k.cu(1): \xff"})), "");
  EXPECT_EQ(std::get<CompileFailed>(result).log, "k.cu(1): \xff");
}

TEST(CompileMessages, AnythingElseIsRefused) {
  EXPECT_THROW(static_cast<void>(job_of({{{"type", "hello"}}, {}})), ProtocolError);
  EXPECT_THROW(static_cast<void>(result_of({{{"type", "hello"}}, {}}, "")), ProtocolError);
  Message message = message_of(job());
  message.body.erase("options");
  EXPECT_THROW(static_cast<void>(job_of(message)), ProtocolError);
  message = message_of(job());
  message.blob.pop_back();
  EXPECT_THROW(static_cast<void>(job_of(message)), ProtocolError);
}

}  // namespace
}  // namespace fatune
