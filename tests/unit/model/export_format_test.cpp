#include "model/output_format.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;

TEST(ExportFormat, EveryNameIsReadBack) {
  for (const ExportFormatInfo& info : kExportFormats) {
    EXPECT_EQ(parse_export_format(info.name), info.format);
    EXPECT_EQ(export_format_name(info.format), info.name);
    EXPECT_THAT(export_formats_text(), HasSubstr(std::string(info.name) + ": "));
  }
}

TEST(ExportFormat, AnUnknownNameIsAnsweredWithThoseThereAre) {
  for (const char* bad : {"", "JSON", "jso", "pdf"}) {
    try {
      static_cast<void>(parse_export_format(bad));
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("formats are json"));
    }
  }
}

}  // namespace
}  // namespace fatune
