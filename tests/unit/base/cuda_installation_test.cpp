#include "base/cuda_installation.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fatune {
namespace {

namespace fs = std::filesystem;

/// A folder for fake installations. CUDA_HOME and VIRTUAL_ENV point into it.
class CudaInstallations : public testing::Test {
 protected:
  CudaInstallations() {
    std::string pattern = (fs::temp_directory_path() / "fatune-cuda-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    for (const auto& [name, value] : {std::pair{"CUDA_HOME", folder_ / "toolkit"},
                                      std::pair{"VIRTUAL_ENV", folder_ / "venv"}}) {
      const char* const before = std::getenv(name);
      saved_.emplace_back(name, before == nullptr ? "" : before);
      ::setenv(name, value.c_str(), 1);
    }
  }
  ~CudaInstallations() override {
    for (const auto& [name, value] : saved_) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    fs::remove_all(folder_);
  }
  CudaInstallations(const CudaInstallations&) = delete;
  CudaInstallations& operator=(const CudaInstallations&) = delete;
  CudaInstallations(CudaInstallations&&) = delete;
  CudaInstallations& operator=(CudaInstallations&&) = delete;

  void make(const fs::path& file) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << "made up";
  }
  /// The installations below the folder. The machine may have others.
  [[nodiscard]] std::vector<CudaInstallation> found() const {
    std::vector<CudaInstallation> own;
    for (const CudaInstallation& one : cuda_installations()) {
      if (one.nvrtc.string().starts_with(folder_.string())) {
        own.push_back(one);
      }
    }
    return own;
  }

  fs::path folder_;
  std::vector<std::pair<std::string, std::string>> saved_;
};

const fs::path kPackages = "venv/lib/python3.12/site-packages/nvidia";

TEST_F(CudaInstallations, TheToolkitThatTheUserChoseComesFirst) {
  make(kPackages / "cu13/lib/libnvrtc.so.13");
  make("toolkit/lib64/libnvrtc.so.12");
  make("toolkit/include/cuda_fp16.h");
  const auto all = found();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].nvrtc, folder_ / "toolkit/lib64/libnvrtc.so.12");
  EXPECT_THAT(all[0].include_folders, testing::ElementsAre(folder_ / "toolkit/include"));
  EXPECT_EQ(all[1].nvrtc, folder_ / kPackages / "cu13/lib/libnvrtc.so.13");
}

TEST_F(CudaInstallations, AToolkitWithoutNvrtcOrWithAnOldOneIsNone) {
  make("toolkit/lib64/libnvrtc.so.11.2");
  make("toolkit/include/cuda_fp16.h");
  EXPECT_TRUE(found().empty());
}

TEST_F(CudaInstallations, PackagesOfCuda13HaveOneFolder) {
  make(kPackages / "cu13/lib/libnvrtc.so.13");
  make(kPackages / "cu13/include/cccl/nv/target");
  make(kPackages / "cuda_runtime/include/cuda_fp16.h");
  const auto all = found();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].include_folders,
              testing::ElementsAre(folder_ / kPackages / "cu13/include",
                                   folder_ / kPackages / "cu13/include/cccl"));
}

TEST_F(CudaInstallations, PackagesOfCuda12HaveAFolderEach) {
  make(kPackages / "cuda_nvrtc/lib/libnvrtc.so.12");
  make(kPackages / "cuda_runtime/include/cuda_fp16.h");
  make(kPackages / "cuda_cccl/include/nv/target");
  make(kPackages / "cu13/include/cuda_fp16.h");
  const auto all = found();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].include_folders,
              testing::ElementsAre(folder_ / kPackages / "cuda_cccl/include",
                                   folder_ / kPackages / "cuda_runtime/include"));
}

TEST(ChooseInstallation, TakesTheFirstWhoseMachineCodeTheDriverLoads) {
  const std::vector<CudaInstallation> both{{"/a/libnvrtc.so.13", {}}, {"/b/libnvrtc.so.12", {}}};
  const auto chosen = [&](const char* release) {
    return choose_installation(both, release)->nvrtc.string();
  };
  EXPECT_EQ(chosen("580.65.06"), "/a/libnvrtc.so.13");
  EXPECT_EQ(chosen("575.57.08"), "/b/libnvrtc.so.12");
  EXPECT_EQ(chosen(""), "/a/libnvrtc.so.13");
}

TEST(ChooseInstallation, WithoutASuitableOneTakesTheFirstThatTheMessageNames) {
  EXPECT_EQ(choose_installation({{"/a/libnvrtc.so.13", {}}}, "535.104.05")->major(), 13);
  EXPECT_EQ(choose_installation({}, "535.104.05"), std::nullopt);
}

TEST(ReadDriverRelease, FindsItInWhatTheKernelModuleSays) {
  EXPECT_EQ(
      read_driver_release("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  "
                          "Release Build  (root@host)\nGCC version:  gcc version 12.2.0\n"),
      "580.159.04");
  EXPECT_EQ(read_driver_release("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat"),
            "535.104.05");
}

TEST(ReadDriverRelease, NothingElseIsOne) {
  EXPECT_EQ(read_driver_release(""), "");
  EXPECT_EQ(read_driver_release("no driver here\n580.1"), "");
}

}  // namespace
}  // namespace fatune
