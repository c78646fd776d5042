// Arbitrary bytes as output of ncu or nsys: either they are a table whose launches give finite
// figures, or they give a bad_file error.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "inspect/counters/counter_fields.hpp"
#include "inspect/counters/ncu.hpp"
#include "inspect/counters/profiler_tables.hpp"

namespace {

using namespace fatune;

void use(const ProfiledLaunch& launch) {
  for (const CounterField& field : counter_fields(CounterSet::attention)) {
    const auto value = derive(field, launch.counters);
    if (value && !std::isfinite(*value)) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(bytes), size};
  (void)ncu_failure(text, "fuzz");
  (void)ncu_version(text);
  try {
    (void)read_nsys_summary(text, "fuzz");
    for (const ProfiledLaunch& launch : read_ncu_csv(text, "fuzz")) {
      use(launch);
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::bad_file) {
      std::abort();
    }
  }
  return 0;
}
