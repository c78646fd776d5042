#include "engine/verifying_kernels.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "measure/measurement_module.hpp"

namespace fatune {
namespace {

const Problem kHalf{1, 128, 1, 64, DType::fp16, false};

/// Sources that compile quickly, in place of the real ones.
std::shared_ptr<const SourceBundle> sources(const std::string& text) {
  auto bundle = std::make_shared<SourceBundle>();
  bundle->main = {measurement_source_names().front(), text};
  return bundle;
}

TEST(VerifyingKernels, ReadsAllOfTheirSources) {
  const auto bundle = read_kernel_sources(FileTree(), measurement_source_names());
  EXPECT_EQ(bundle->main.name, measurement_source_names().front());
  EXPECT_EQ(bundle->headers.size() + 1, measurement_source_names().size());
  EXPECT_FALSE(bundle->main.text.empty());
}

TEST(VerifyingKernels, ProblemsOfOneDTypeAndHeadDimensionShareThem) {
  const Problem longer{4, 4096, 16, 64, DType::fp16, true};
  const Problem other{1, 128, 1, 64, DType::bf16, false};
  const auto text = "extern \"C\" __global__ void " +
                    measurement_request(sources(""), kHalf, Arch{90, '\0'}).entry_point +
                    "(int* x) { *x = 1; }";
  const VerifyingKernels kernels(sources(text), {kHalf, longer, other}, Arch{90, '\0'}, nullptr);
  EXPECT_EQ(&kernels.of(kHalf), &kernels.of(longer));
  EXPECT_NE(&kernels.of(kHalf), &kernels.of(other));
  EXPECT_FALSE(kernels.of(kHalf).cubin.empty());
}

TEST(VerifyingKernels, ThoseThatDoNotCompileAreAnErrorWithTheLog) {
  const VerifyingKernels kernels(sources("this is no source"), {kHalf}, Arch{90, '\0'}, nullptr);
  try {
    static_cast<void>(kernels.of(kHalf));
    FAIL() << "it compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::gpu_failure);
    EXPECT_THAT(error.what(), testing::HasSubstr(measurement_source_names().front()));
    EXPECT_THAT(error.what(), testing::HasSubstr("error"));
  }
}

}  // namespace
}  // namespace fatune
