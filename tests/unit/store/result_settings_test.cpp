#include "store/run_parts.hpp"

#include <gmock/gmock.h>

#include "unit/store/exchange_samples.hpp"

namespace fatune {
namespace {

TEST(TuningResults, AuditedConfigurationIsThereOnceWithItsTime) {
  int found = 0;
  for (const TunedSetting& setting : tuning_results(sample_part()).settings) {
    if (setting.configuration["rows"] == 14) {
      ++found;
      EXPECT_EQ(setting.time_ms, 0.15);
    }
  }
  EXPECT_EQ(found, 1);
}

TEST(CheckSettings, AcceptsTheSettingsOfTheRecordsInAnyOrder) {
  TuningResults file = tuning_results(sample_part());
  std::ranges::reverse(file.settings);
  EXPECT_NO_THROW(check_settings(file, sample_part(), "file"));
}

TEST(CheckSettings, RefusesEveryChange) {
  const TuningResults whole = tuning_results(sample_part());
  const std::vector<std::function<void(TuningResults&)>> changes{
      [](TuningResults& file) { *file.settings[0].time_ms += 1e-9; },
      [](TuningResults& file) { file.settings[0].runtimes_ms.pop_back(); },
      [](TuningResults& file) { file.settings[0].configuration["rows"] = 99; },
      [](TuningResults& file) { file.settings[3].validity = Validity::correct; },
      [](TuningResults& file) { file.settings.pop_back(); },
      [](TuningResults& file) {
        file.settings.push_back(file.settings[0]);
        file.settings.back().configuration["rows"] = 99;
      }};
  for (const auto& change : changes) {
    TuningResults file = whole;
    change(file);
    expect_bad_file([&] { check_settings(file, sample_part(), "the file"); },
                    {"the file", "differs from the records", "remove that member"});
  }
}

}  // namespace
}  // namespace fatune
