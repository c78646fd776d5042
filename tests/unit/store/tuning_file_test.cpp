#include "store/tuning_file.hpp"

#include <gmock/gmock.h>

#include <random>

#include "base/error.hpp"
#include "store/run_parts.hpp"
#include "unit/store/exchange_samples.hpp"

namespace fatune {
namespace {

constexpr std::array kFormats{ExportFormat::t4, ExportFormat::kernel_tuner_cache};

std::string written(ExportFormat format) {
  return tuning_file_text(format, tuning_results(sample_part()));
}

TuningResults read(std::string_view text, std::optional<ExportFormat> format = std::nullopt) {
  return read_tuning_file(text, "file", format, FileTree());
}

TEST(TuningFile, IsReadInTheFormatThatItsMembersTell) {
  for (const ExportFormat format : kFormats) {
    const TuningResults results = read(written(format));
    const nlohmann::json records = results.records;
    const RunPart part = read_part(JsonNode(records, "file"));
    EXPECT_NO_THROW(check_settings(results, part, "file")) << export_format_name(format);
    EXPECT_EQ(part.family, "toy");
  }
}

TEST(TuningFile, OfAnotherFormatIsRefused) {
  expect_bad_file([] { static_cast<void>(read("{\"rows\": []}")); },
                  {"file", "neither T4", "'results'", "'cache'"});
  expect_bad_file([] { static_cast<void>(read("[]")); }, {"file", "neither T4"});
  expect_bad_file([] { static_cast<void>(read("results: 1")); },
                  {"file: line 1", "not valid JSON"});
  expect_bad_file(
      [] { static_cast<void>(read(written(ExportFormat::t4), ExportFormat::kernel_tuner_cache)); },
      {"file: /", "has no member 'cache'"});
  expect_bad_file(
      [] { static_cast<void>(read(written(ExportFormat::kernel_tuner_cache), ExportFormat::t4)); },
      {"file: /", "has no member 'results'"});
}

TEST(TuningFile, SaysWhereItDoesNotFollowItsSchema) {
  nlohmann::json t4 = nlohmann::json::parse(written(ExportFormat::t4));
  t4["results"][1]["invalidity"] = "broken";
  expect_bad_file(
      [&] { static_cast<void>(read(t4.dump())); },
      {"file: /results/1/invalidity", "\"broken\"", "how the setting ended", "constraints"});
  nlohmann::json cache = nlohmann::json::parse(written(ExportFormat::kernel_tuner_cache));
  cache["cache"]["FP16,1"]["time"] = -1.0;
  expect_bad_file([&] { static_cast<void>(read(cache.dump())); },
                  {"file: /cache/FP16,1/time", "-1"});
}

/// Changes one byte of the text, removes or doubles some bytes, or cuts off its end.
std::string damaged(std::string text, std::mt19937& random) {
  const std::size_t at = random() % text.size();
  switch (random() % 4) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, 1 + random() % 8);
      break;
    case 2:
      text.insert(at, text.substr(at, 1 + random() % 40));
      break;
    default:
      text.resize(at);
      break;
  }
  return text;
}

TEST(TuningFile, DamagedTextIsReadOrRefusedAndNothingElse) {
  std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same texts in each run
  for (const ExportFormat format : kFormats) {
    const std::string whole = written(format);
    int refused = 0;
    for (int i = 0; i < 300; ++i) {
      const std::string text = damaged(whole, random);
      try {
        const TuningResults results = read(text);
        if (!results.records.is_null()) {
          const nlohmann::json records = results.records;
          check_settings(results, read_part(JsonNode(records, "file")), "file");
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::bad_file) << error.what();
        ++refused;
      }
    }
    EXPECT_GT(refused, 100) << export_format_name(format);
  }
}

}  // namespace
}  // namespace fatune
