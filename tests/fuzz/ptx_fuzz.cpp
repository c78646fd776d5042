// Arbitrary bytes as PTX: either they can be analysed, up to the data flow of each statement, or
// they give a bad_file error.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "emulator/ptx/data_flow.hpp"
#include "emulator/ptx/parse_ptx.hpp"

namespace {

using namespace fatune;

void use(const PtxModule& module, const PtxFunction& function) {
  constexpr std::size_t kMostSlices = 50;
  for (std::size_t i = 0; i < function.statements.size() && i < kMostSlices; ++i) {
    if (function.statements[i].place >= module.places.size()) {
      std::abort();
    }
    const auto steps = feeding_statements(function, {i}, 0);
    if (steps.empty() || steps.size() > function.statements.size()) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const PtxModule module = parse_ptx({reinterpret_cast<const char*>(bytes), size}, "fuzz");
    for (const PtxFunction& function : module.functions) {
      use(module, function);
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::bad_file) {
      std::abort();
    }
  }
  return 0;
}
