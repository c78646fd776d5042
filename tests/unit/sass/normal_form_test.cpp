#include "sass/normal_form.hpp"

#include <gmock/gmock.h>

#include "unit/sass/listings.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const std::string& lines) {
  std::vector<std::string> texts;
  for (const NormalLine& line : normal_form(function_of(lines))) {
    texts.push_back(line.text);
  }
  return texts;
}

std::vector<std::string> shapes(const std::string& lines) {
  std::vector<std::string> shapes;
  for (const NormalLine& line : normal_form(function_of(lines))) {
    shapes.push_back(line.shape);
  }
  return shapes;
}

TEST(NormalForm, RegistersAreNumberedInOrderOfAppearance) {
  EXPECT_THAT(texts(("IMAD.WIDE R10, R7.reuse, 0x4, R10\n@!P3 LDG.E R4, [R10.64]\n"
                     "ISETP.GE.AND P3, PT, R4, UR6, PT")),
              ElementsAre("IMAD.WIDE R0, R1, 0x4, R0", "@!P0 LDG.E R2, [R0.64]",
                          "ISETP.GE.AND P0, PT, R2, UR0, PT"));
}

TEST(NormalForm, TheSameCodeWithOtherRegistersAndLabelsIsEqual) {
  EXPECT_EQ(texts("Q:\nA:\nFADD R1, R2, -R3\n@P0 BRA `(.LA)\nEXIT"),
            texts("Z9:\nFADD R7, R5, -R4\n@P2 BRA `(.LZ9)\nEXIT"));
}

TEST(NormalForm, OtherCodeIsNot) {
  EXPECT_NE(texts("FADD R1, R2, R3\nFADD R1, R2, R3"), texts("FADD R1, R2, R3\nFADD R1, R3, R2"));
}

TEST(NormalForm, ConstantsAndSpecialRegistersStay) {
  EXPECT_THAT(texts(("MOV R1, c[0x0][0x160]\nS2R R5, SR_TID.X\nMOV RZ, 0xR1\n"
                     "RET.REL.NODEC R8 `(f)\nCALL.REL.NOINC `($f$helper)")),
              ElementsAre("MOV R0, c[0x0][0x160]", "S2R R1, SR_TID.X", "MOV RZ, 0xR1",
                          "RET.REL.NODEC `(self)", "CALL.REL.NOINC `($$helper)"));
}

TEST(NormalForm, TheShapeIsTheSameWhateverCameBefore) {
  EXPECT_THAT(shapes("A:\n@!P1 IMAD R4, R5.reuse, UR6, -R7\nBRA `(.LA)"),
              ElementsAre("L:", "@!P IMAD R, R, UR, -R", "BRA `(L)"));
}

}  // namespace
}  // namespace fatune
