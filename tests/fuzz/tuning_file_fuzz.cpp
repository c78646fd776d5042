// Arbitrary bytes as a file of another auto-tuner: either they become a run, or they give a
// bad_file error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "model/device_limits.hpp"
#include "store/run_parts.hpp"
#include "store/tuning_file.hpp"

namespace {

using namespace fatune;

const FamilySet& families() {
  static const FamilySet flash({load_family(FileTree{}, "flash_sm80")});
  return flash;
}

const ForeignFile& foreign_file() {
  static const ForeignFile file{"fuzz",
                                {16, 4096, 16, 128, DType::fp16, false},
                                load_device_limits(FileTree{}, Arch{90, 'a'}),
                                "fatune import fuzz"};
  return file;
}

RunReport run_of(const TuningResults& results) {
  if (results.records.is_null()) {
    return foreign_run(results, foreign_file(), families());
  }
  const RunPart part = read_part(JsonNode(results.records, "fuzz"));
  check_settings(results, part, "fuzz");
  return join_parts({part}).at(0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    const RunReport run = run_of(read_tuning_file(text, "fuzz", std::nullopt, FileTree{}));
    for (const RunPart& part : parts_of(run)) {  // a run that was read can be written
      (void)tuning_file_text(ExportFormat::t4, tuning_results(part));
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::bad_file) {
      std::abort();
    }
  }
  return 0;
}
