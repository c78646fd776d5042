#pragma once

#include "cli/command_page.hpp"

namespace fatune {

/// A program with one command, which has every kind of option. Its texts contain characters that
/// are special to shells and roff.
inline CommandPage sample_program() {
  const CommandPage command{
      .words = {"fatune", "tune"},
      .summary = "Isn't [it] a\\b: `x`?",
      .footer = "'quoted'\n.dotted\n  kept -o\nExamples:\n  fatune tune 'a b' \\\n    -o c",
      .options = {{.names = {"-o", "--out"},
                   .value = "FILE|-",
                   .doc = "a 'file'",
                   .completes = {.words = {"-"}, .files = true},
                   .repeatable = true},
                  {.names = {"--kinds"},
                   .value = "a|b,...",
                   .doc = "x",
                   .completes = {.words = {"a", "b"}, .several = true}},
                  {.names = {"--count"}, .value = "N", .value_may_be_absent = true, .doc = "x"},
                  {.names = {"--fast"}, .doc = "x", .excludes = {"--kinds"}}},
      .arguments =
          {{.name = "DIR", .doc = "x", .completes = {.folders = true}, .repeatable = true}},
      .commands = {}};
  return {.words = {"fatune"},
          .summary = "Tunes",
          .footer = {},
          .options = {},
          .arguments = {},
          .commands = {command}};
}

}  // namespace fatune
