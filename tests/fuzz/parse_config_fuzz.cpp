// Arbitrary text either is a configuration that can be read back from every notation, or gives a
// usage error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace {

using namespace fatune;

const Family& family() {
  static const Family flash = load_family(FileTree{}, "flash_sm80");
  return flash;
}

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void check(const Config& config) {
  require(parse_config(family(), short_form(family(), config)) == config);
  require(parse_config(family(), kernel_name(family(), config)) == config);
  (void)check_valid(family(), config);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    check(parse_config(family(), text));
  } catch (const Error& error) {
    require(error.code() == ExitCode::usage);
  }
  return 0;
}
