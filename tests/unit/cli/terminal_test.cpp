#include "cli/terminal.hpp"

#include <gtest/gtest.h>

#include <array>

namespace fatune {
namespace {

TEST(QuotedCommandLine, QuotesWhatAShellWouldTakeApart) {
  const std::array<const char*, 5> arguments{"/usr/bin/fatune", "run", "--config",
                                             "(FP16, 128): it's", ""};
  EXPECT_EQ(quoted_command_line(5, arguments.data()),
            "fatune run --config '(FP16, 128): it'\\''s' ''");
}

}  // namespace
}  // namespace fatune
