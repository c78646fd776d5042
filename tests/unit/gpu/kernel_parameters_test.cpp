#include "gpu/cubin_elf.hpp"

#include <gmock/gmock.h>

#include "gpu/compiler.hpp"
#include "unit/gpu/requests.hpp"

namespace fatune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Artifact kernel_with(const std::string& parameters) {
  const std::string text =
      "struct S { long long a[500]; };\n"
      "extern \"C\" __global__ void k(" +
      parameters + ") {}";
  return std::get<Artifact>(compile(request_for(text, "k")));
}

std::vector<std::int64_t> sizes_of(const Artifact& artifact) {
  return parameter_sizes(artifact.cubin, artifact.lowered_name).value();
}

TEST(KernelParameters, AreReadFromTheCubin) {
  EXPECT_THAT(sizes_of(kernel_with("int a, float* b, bool c, double d, S s")),
              ElementsAre(4, 8, 1, 8, 4000));
  EXPECT_THAT(sizes_of(kernel_with("")), IsEmpty());
}

TEST(KernelParameters, WhatIsNoCubinSaysNothing) {
  EXPECT_FALSE(parameter_sizes({}, "k"));
  const Artifact artifact = kernel_with("int a");
  EXPECT_FALSE(parameter_sizes(artifact.cubin, "other"));
  for (std::size_t bytes = 0; bytes < artifact.cubin.size(); bytes += 97) {
    (void)parameter_sizes(std::span(artifact.cubin).first(bytes), "k");
  }
}

TEST(KernelParameters, AMismatchNamesTheFamilysPlaceAndBothSides) {
  const Artifact artifact = kernel_with("int a, float* b");
  const KernelArgument number{"/arguments/0", 4, 4, {{0, 4, 0}}, {}, {}};
  const KernelArgument address{"/arguments/1", 8, 8, {}, {{0, "q", 0}}, {}};
  EXPECT_FALSE(argument_mismatch(artifact, {false, {number, address}, {}}));
  EXPECT_THAT(argument_mismatch(artifact, {false, {number, number}, {}}).value(),
              HasSubstr("family.json: /arguments/0: the kernel takes 2 of 4, 8 bytes, but is "
                        "passed 2 of 4, 4 bytes"));
  EXPECT_THAT(
      argument_mismatch(artifact, {false, {number}, {}}).value(),
      HasSubstr(
          "family.json: /arguments: the kernel takes 2 of 4, 8 bytes, but is passed 1 of 4 bytes"));
  EXPECT_THAT(argument_mismatch(artifact, {false, {}, {}}).value(),
              HasSubstr("passed no arguments"));
}

}  // namespace
}  // namespace fatune
