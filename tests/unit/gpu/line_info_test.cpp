#include <gtest/gtest.h>

#include <map>
#include <string>

#include "gpu/compiler.hpp"
#include "gpu/cubin_elf.hpp"
#include "unit/gpu/requests.hpp"

namespace fatune {
namespace {

/// The sections with code, constants and shared memory. The attributes (.nv.info) are left out,
/// because they name symbols by number.
std::map<std::string, std::string> executed_sections(const Artifact& artifact) {
  std::map<std::string, std::string> sections;
  for (const ElfSection& section : read_elf_sections(artifact.cubin)) {
    for (const char* prefix : {".text.", ".nv.constant", ".nv.shared"}) {
      if (section.name.starts_with(prefix)) {
        sections[section.name] = {section.contents.begin(), section.contents.end()};
      }
    }
  }
  return sections;
}

TEST(LineInfo, IsAnArtifactOfItsOwnWithTheSameCode) {
  const CompileRequest request = request_for(
      "__device__ int f(int x) { return x / 3; }\n__constant__ int c[2] = {1, 2};\n"
      "extern \"C\" __global__ void k(int* x) {\n"
      "  for (int i = 0; i < x[1]; ++i) x[i] = f(c[x[i]]);\n}",
      "k");
  const Artifact plain = std::get<Artifact>(compile(request, nullptr, true));
  const Artifact lines = std::get<Artifact>(compile(with_line_info(request), nullptr, true));
  EXPECT_NE(artifact_key(request), artifact_key(with_line_info(request)));
  EXPECT_NE(plain.cubin, lines.cubin);
  EXPECT_EQ(executed_sections(plain), executed_sections(lines));
  EXPECT_GE(executed_sections(plain).size(), 3U);
  EXPECT_EQ(plain.ptx.find(".loc"), std::string::npos);
  EXPECT_NE(lines.ptx.find(".loc"), std::string::npos);
}

}  // namespace
}  // namespace fatune
