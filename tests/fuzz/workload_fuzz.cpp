// Arbitrary bytes as a workload: either they become one, each problem once, or they give a bad_file
// error. The first byte chooses between JSON Lines and comma-separated values.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "model/workload.hpp"
#include "unit/base/temp_folder.hpp"

namespace {

using namespace fatune;

/// Aborts unless merging the workload with itself gives twice the calls, at the same times.
void check_merging(const Workload& workload) {
  const Workload twice = merged({workload, workload});
  if (workload.empty() || twice.size() != workload.size()) {
    std::abort();
  }
  for (std::size_t i = 0; i < twice.size(); ++i) {
    if (twice[i].calls != 2.0 * workload[i].calls ||
        twice[i].time_us.has_value() != workload[i].time_us.has_value()) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const fixtures::TempFolder folder;
  if (size == 0) {
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    check_merging(read_workload(folder.write(bytes[0] == 'c' ? "w.csv" : "w.jsonl", text)));
  } catch (const Error& error) {
    if (error.code() != ExitCode::bad_file) {
      std::abort();
    }
  }
  return 0;
}
