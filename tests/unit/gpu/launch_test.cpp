#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gpu/context.hpp"
#include "gpu/driver.hpp"
#include "gpu/module.hpp"
#include "gpu/nvrtc.hpp"
#include "unit/gpu/fake_driver.hpp"

namespace fatune::gpu {
namespace {

const std::vector<char>& launched_cubin() {
  static const std::vector<char> bytes = [] {
    Program program(
        {{"k.cu", "extern \"C\" __global__ void twice(float* x, int n) { x[n] *= 2.0f; }"}, {}});
    EXPECT_TRUE(program.compile({"--gpu-architecture=sm_90a"})) << program.log();
    return program.cubin();
  }();
  return bytes;
}

class Launch : public FakeDriverTest {};

struct Seen {
  std::string kernel;
  float* x = nullptr;
  int n = 0;
};

Seen& seen() {
  static Seen last;
  return last;
}

void remember(const char* kernel, void** arguments) {
  seen() = {kernel, *static_cast<float**>(arguments[0]), *static_cast<int*>(arguments[1])};
}

TEST_F(Launch, PassesTheKernelItsArguments) {
  const Context context(0);
  const Stream stream;
  const Module module(launched_cubin());
  const DeviceBuffer x(64);
  FakeDriver::on_launch(remember);
  launch_with(module.function("twice"), {{2, 1, 1}, {128, 1, 1}, 0}, stream, x.as<float>(), 3);
  EXPECT_EQ(seen().kernel, "twice");
  EXPECT_EQ(seen().x, x.as<float>());
  EXPECT_EQ(seen().n, 3);
  EXPECT_EQ(FakeDriver::launches(), 1);
}

TEST_F(Launch, TakesTheTimeBetweenEvents) {
  const ScopedVariable duration("FATUNE_FAKE_KERNEL_US", "250");
  const Context context(0);
  const Stream stream;
  const Module module(launched_cubin());
  const Event start;
  const Event stop;
  start.record(stream);
  launch_with(module.function("twice"), {}, stream, static_cast<float*>(nullptr), 0);
  stop.record(stream);
  stop.synchronize();
  EXPECT_DOUBLE_EQ(elapsed_ms(start, stop), 0.25);
}

TEST_F(Launch, NeedsAnImageAndAKernelThatExist) {
  const Context context(0);
  const std::vector<char> text(100, 'x');
  EXPECT_THROW(Module{text}, DriverError);
  const Module module(launched_cubin());
  EXPECT_THROW(static_cast<void>(module.function("thrice")), DriverError);
  EXPECT_THROW(static_cast<void>(module.function("twic")), DriverError);
}

TEST_F(Launch, NeedsItsSharedMemoryAllowed) {
  const Context context(0);
  const Stream stream;
  const Module module(launched_cubin());
  const Function function = module.function("twice");
  const LaunchGeometry geometry{{1, 1, 1}, {128, 1, 1}, 100'000};
  EXPECT_THROW(launch(function, geometry, stream, {}), DriverError);
  function.allow_dynamic_smem(100'000);
  EXPECT_NO_THROW(launch(function, geometry, stream, {}));
  EXPECT_THROW(function.allow_dynamic_smem(1'000'000), DriverError);
}

TEST_F(Launch, RefusesExtentsBeyond32Bits) {
  const Context context(0);
  const Stream stream;
  const Module module(launched_cubin());
  const Function function = module.function("twice");
  for (const std::int64_t extent : {std::int64_t{1} << 31, std::int64_t{-1}}) {
    try {
      launch(function, {{extent, 1, 1}, {1, 1, 1}, 0}, stream, {});
      FAIL() << extent;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::too_large);
      EXPECT_THAT(error.what(), testing::HasSubstr("grid.x"));
    }
  }
  EXPECT_EQ(FakeDriver::launches(), 0);
}

TEST_F(Launch, ThatCrashesShowsAtTheNextSynchronisationAndIsSticky) {
  const ScopedVariable crash("FATUNE_FAKE_KERNEL_ERROR", "700@2");
  const Context context(0);
  const Stream stream;
  const Module module(launched_cubin());
  const Function function = module.function("twice");
  launch(function, {}, stream, {});
  EXPECT_NO_THROW(stream.synchronize());
  EXPECT_NO_THROW(launch(function, {}, stream, {}));
  try {
    stream.synchronize();
    FAIL() << "no error";
  } catch (const DriverError& error) {
    EXPECT_TRUE(error.sticky());
    EXPECT_EQ(error.name(), "CUDA_ERROR_ILLEGAL_ADDRESS");
    EXPECT_THAT(error.remedy(), testing::HasSubstr("new process"));
  }
  EXPECT_THROW(context.synchronize(), DriverError);
}

TEST_F(Launch, OfAKernelByNameMayCrash) {
  const ScopedVariable crash("FATUNE_FAKE_KERNEL_ERROR", "700@name:wic");
  const Context context(0);
  const Stream stream;
  const Module module(launched_cubin());
  launch(module.function("twice"), {}, stream, {});
  EXPECT_THROW(stream.synchronize(), DriverError);
  FakeDriver::reset();
  const ScopedVariable other("FATUNE_FAKE_KERNEL_ERROR", "700@name:thrice");
  launch(module.function("twice"), {}, stream, {});
  EXPECT_NO_THROW(stream.synchronize());
}

}  // namespace
}  // namespace fatune::gpu
