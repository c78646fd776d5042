#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/error.hpp"

namespace fatune::fixtures {

/// Expects `action` to throw an Error with that code whose message has every one of `parts`.
template <class Action>
void expect_error(Action&& action, ExitCode code, const std::vector<std::string>& parts) {
  try {
    action();
    ADD_FAILURE() << "no error; expected one with: " << ::testing::PrintToString(parts);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& part : parts) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(part));
    }
  }
}

}  // namespace fatune::fixtures
