#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "print/document/table.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

TEST(FieldValues, CellsHaveTheFieldsDecimals) {
  EXPECT_EQ(cell_text(FieldValue{1.25}, 1), "1.2");
  EXPECT_EQ(cell_text(FieldValue{std::int64_t{7}}, 3), "7");
  EXPECT_EQ(cell_text(FieldValue{true}, 0), "yes");
  EXPECT_EQ(cell_text(FieldValue{}, 0), "-");
}

TEST(FieldValues, CsvReadsBackAsTheSameNumber) {
  const double value = 135.35363016835018;
  EXPECT_EQ(std::stod(csv_text(FieldValue{value})), value);
  EXPECT_EQ(csv_text(FieldValue{false}), "false");
  EXPECT_EQ(csv_text(FieldValue{}), "");
}

TEST(FieldValues, ATextIsNoFormulaInCsv) {
  for (const std::string text : {"=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1"}) {
    EXPECT_EQ(csv_text(FieldValue{text}), "'" + text);
  }
  for (const std::string text : {"-1.5", "a=b", "(FP16, 128)"}) {
    EXPECT_EQ(csv_text(FieldValue{text}), text);
  }
}

TEST(FieldValues, WhatIsNotFiniteIsNeverPrinted) {
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(csv_text(FieldValue{value}), "");
    EXPECT_EQ(cell_text(FieldValue{value}, 1), "-");
  }
}

TEST(ResultFields, NamesAreUniqueAmongAllColumns) {
  std::set<std::string_view> names;
  for (const auto& field :
       joined_fields<ResultRow>({problem_fields(), result_fields(), run_fields()})) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
  }
}

}  // namespace
}  // namespace fatune
