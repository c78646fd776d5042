#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace fatune::gpu {

/// Controls the fake driver (tests/fake_cuda). Every test program that links this file loads the
/// fake driver in place of libcuda.
struct FakeDriver {
  static long long live_objects();
  static long long launches();
  static long long profiled_launches();  ///< between profiler start and stop
  static void reset();
  static const unsigned* grid();  ///< x, y and z of the last launch
  using Hook = void (*)(const char* kernel, void** arguments);
  static void on_launch(Hook hook);
};

/// Sets an environment variable. The destructor restores its previous state.
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

/// Resets the fake driver before each test, and expects everything to be released at the end.
class FakeDriverTest : public testing::Test {
 protected:
  void SetUp() override { FakeDriver::reset(); }
  void TearDown() override {
    EXPECT_EQ(FakeDriver::live_objects(), 0);
    FakeDriver::reset();
  }
};

}  // namespace fatune::gpu
