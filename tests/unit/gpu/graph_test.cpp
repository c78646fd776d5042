
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <memory>

#include "gpu/context.hpp"
#include "gpu/driver.hpp"
#include "gpu/module.hpp"
#include "gpu/nvrtc.hpp"
#include "unit/gpu/fake_driver.hpp"

namespace fatune::gpu {
namespace {

/// Has the size of AttentionForwardArgs, which the fake driver keeps of a graph's argument.
struct Argument {
  int values[12] = {};
};

const std::vector<char>& cubin() {
  static const std::vector<char> bytes = [] {
    Program program({{"k.cu",
                      "struct A { int values[12]; };"
                      "extern \"C\" __global__ void keep(A a) { (void)a; }"},
                     {}});
    EXPECT_TRUE(program.compile({"--gpu-architecture=sm_90a"})) << program.log();
    return program.cubin();
  }();
  return bytes;
}

KernelGraph graph_with(const Function& function, const LaunchGeometry& geometry,
                       Argument argument) {
  void* pointers[] = {&argument};
  return {function, geometry, pointers};
}

class Graph : public FakeDriverTest {
 protected:
  void SetUp() override {
    FakeDriverTest::SetUp();
    seen_in_graph() = {};
    FakeDriver::on_launch([](const char* kernel, void** arguments) {
      seen_in_graph() +=
          fmt::format("{}({}) ", kernel, static_cast<Argument*>(arguments[0])->values[11]);
    });
  }
  static std::string& seen_in_graph() {
    static std::string launches;
    return launches;
  }
};

TEST_F(Graph, LaunchesItsKernelWithTheArgumentsOfItsMaking) {
  const Context context(0);
  const Stream stream;
  const Module module(cubin());
  Argument argument;
  argument.values[11] = 7;
  const KernelGraph graph =
      graph_with(module.function("keep"), {{5, 3, 2}, {128, 1, 1}, 0}, argument);
  argument.values[11] = 8;
  EXPECT_EQ(FakeDriver::launches(), 0);
  graph.launch(stream);
  graph.launch(stream);
  EXPECT_EQ(seen_in_graph(), "keep(7) keep(7) ");
  EXPECT_EQ(FakeDriver::grid()[0], 5U);
  EXPECT_EQ(FakeDriver::grid()[2], 2U);
  EXPECT_TRUE(has_graphs());
}

TEST_F(Graph, WhatTheDriverRefusesIsAnErrorAndLeavesNothing) {
  const Context context(0);
  const Module module(cubin());
  const Function function = module.function("keep");
  const LaunchGeometry too_much{{1, 1, 1}, {128, 1, 1}, 100'000};
  EXPECT_THROW(static_cast<void>(graph_with(function, too_much, Argument{})), DriverError);
  const LaunchGeometry too_large{{std::int64_t{1} << 31, 1, 1}, {1, 1, 1}, 0};
  EXPECT_THROW(static_cast<void>(graph_with(function, too_large, Argument{})), Error);
  const ScopedVariable fail("FATUNE_FAKE_FAIL", "cuGraphInstantiateWithFlags=2");
  EXPECT_THROW(static_cast<void>(graph_with(function, {}, Argument{})), DriverError);
}

[[noreturn]] void look_for_graphs(const char* library) {
  setenv("FATUNE_LIBCUDA", library, 1);
  std::exit(has_graphs() ? 0 : 3);
}

TEST(GraphDeathTest, AnOldDriverHasNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(look_for_graphs(FATUNE_FAKE_CUDA), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(look_for_graphs(FATUNE_FAKE_CUDA_OLD), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace fatune::gpu
