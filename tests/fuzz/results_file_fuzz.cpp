// Arbitrary bytes as an output of fatune: either they become reports that can be written again, or
// they give a bad_file error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "print/run_report.hpp"
#include "store/results_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    (void)fatune::json_text(fatune::runs_object(fatune::read_results_text(text, "fuzz")));
  } catch (const fatune::Error& error) {
    if (error.code() != fatune::ExitCode::bad_file) {
      std::abort();
    }
  }
  return 0;
}
