#include "unit/inspect/sass/listings.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "inspect/sass/listing.hpp"

namespace fatune {

std::string listing_text(const std::string& name) {
  std::ifstream file(FATUNE_SOURCE_DIR "/tests/listings/" + name, std::ios::binary);
  if (!file) {
    throw std::runtime_error("no listing " + name);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

Listing recorded_listing(const std::string& name) {
  return parse_listing(listing_text(name), name);
}

SassFunction function_of(const std::string& lines) {
  std::string text = "\t.section\t.text.f,\"ax\",@progbits\nf:\n";
  std::istringstream stream(lines);
  int address = 0;
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with(':')) {
      text += ".L" + line + "\n";
    } else if (!line.empty()) {
      text += fmt::format("        /*{:04x}*/      {} ;\n", address, line);
      address += 16;
    }
  }
  return parse_listing(text, "test").functions.at(0);
}

const SassFunction& function_named(const Listing& listing, const std::string& name) {
  for (const SassFunction& function : listing.functions) {
    if (function.name == name) {
      return function;
    }
  }
  throw std::runtime_error("no function " + name);
}

}  // namespace fatune
