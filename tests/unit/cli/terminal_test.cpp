#include "cli/subcommands.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

TEST(QuotedCommandLine, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(quoted_command_line({"run", "--config", "(FP16, 128): it's", ""}),
            "fatune run --config '(FP16, 128): it'\\''s' ''");
}

}  // namespace
}  // namespace fatune
