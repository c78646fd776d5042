// Arbitrary bytes as a listing: either they can be processed up to a profile, a graph and a
// comparison with themselves, or they give a bad_file error.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "inspect/sass/listing.hpp"
#include "inspect/sass/listing_text.hpp"
#include "inspect/sass/profile.hpp"

namespace {

using namespace fatune;

void use(const Listing& listing, const SassFunction& function) {
  const SassProfile profile = profile_function(listing, function);
  if (profile.all.total != static_cast<std::int64_t>(function.instructions.size())) {
    std::abort();
  }
  if (count_lines(listing, function).all.total != profile.all.total) {
    std::abort();
  }
  (void)clean_text(function);
  (void)graph_text(function);
  std::vector<std::string> lines;
  for (const NormalLine& line : normal_form(function)) {
    lines.push_back(line.shape);
  }
  if (diff_lines(lines, lines).size() != lines.size()) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const Listing listing = parse_listing({reinterpret_cast<const char*>(bytes), size}, "fuzz");
    for (const SassFunction& function : listing.functions) {
      use(listing, function);
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::bad_file) {
      std::abort();
    }
  }
  return 0;
}
