#include "emulator/ptx/source_places.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PtxLineTable, InlinedCodeHasItsCallers) {
  PtxLineTable table;
  table.read_loc(".loc\t1 87 7");
  table.read_loc(".loc\t2 53 5, function_name $L__info_string0, inlined_at 1 87 7");
  table.read_loc(".loc\t2 18 5, function_name $L__info_string1, inlined_at 2 53 5");
  const std::size_t deep = table.place();
  table.read_file(".file\t1 \"/x/a.cu\"");
  table.read_file(".file\t2 \"b, c.cuh\", 12, 34");
  EXPECT_THAT(table.places().at(deep),
              ElementsAre(SourceLine{"b, c.cuh", 18}, SourceLine{"b, c.cuh", 53},
                          SourceLine{"/x/a.cu", 87}));
}

TEST(PtxLineTable, TheColumnMayBeMissingBeforeACaller) {
  PtxLineTable table;
  table.read_file(".file 1 \"a.cu\"");
  table.read_loc(".loc 1 5 inlined_at 1 87 7");
  EXPECT_THAT(table.places().at(table.place()),
              ElementsAre(SourceLine{"a.cu", 5}, SourceLine{"a.cu", 87}));
}

TEST(PtxLineTable, WhatIsNoLineIsUnknown) {
  PtxLineTable table;
  table.read_loc(".loc 1 5 1");
  EXPECT_NE(table.place(), 0U);
  for (const char* text : {".loc 1 0 5", ".loc", ".loc x y z", ".loc 1 99999999999999999999 1"}) {
    table.read_loc(text);
    EXPECT_EQ(table.place(), 0U) << text;
  }
  EXPECT_THAT(table.places().at(0), IsEmpty());
}

TEST(PtxLineTable, CallersThatNameEachOtherEnd) {
  PtxLineTable table;
  table.read_loc(".loc 1 1 1, function_name F, inlined_at 1 2 1");
  table.read_loc(".loc 1 2 1, function_name F, inlined_at 1 1 1");
  table.read_loc(".loc 1 1 1, function_name F, inlined_at 1 2 1");
  EXPECT_LT(table.places().at(table.place()).size(), 10U);
}

}  // namespace
}  // namespace fatune
