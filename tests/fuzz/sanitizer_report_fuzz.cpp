// Arbitrary bytes as a report of compute-sanitizer can be read, and the findings can be described.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "inspect/sanitizer_report.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace fatune;
  const SanitizerReport report =
      parse_sanitizer_report({reinterpret_cast<const char*>(bytes), size});
  for (const SanitizerFinding& finding : report.findings) {
    if (finding.kind.empty() || finding.count < 1 || describe(finding).empty()) {
      std::abort();
    }
  }
  return 0;
}
