#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace fatune::gpu {

/// The fake driver (tests/fake_cuda) as the tests steer it. Every test program that links this file
/// loads it in place of libcuda.
struct FakeDriver {
  static long long live_objects();
  static long long launches();
  static long long profiled_launches();  ///< between profiler start and stop
  static void reset();
  static const unsigned* grid();  ///< x, y and z of the last launch
  using Hook = void (*)(const char* kernel, void** arguments);
  static void on_launch(Hook hook);
};

/// An environment variable for as long as this lives; then it is again what it was.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value);
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ScopedVariable(ScopedVariable&&) = delete;
  ScopedVariable& operator=(ScopedVariable&&) = delete;
  ~ScopedVariable();

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Starts from a fake machine in order, and finds everything released at the end.
class FakeDriverTest : public testing::Test {
 protected:
  void SetUp() override { FakeDriver::reset(); }
  void TearDown() override {
    EXPECT_EQ(FakeDriver::live_objects(), 0);
    FakeDriver::reset();
  }
};

}  // namespace fatune::gpu
