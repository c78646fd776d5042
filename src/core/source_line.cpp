#include "core/source_line.hpp"

#include <fmt/format.h>

namespace fatune {

std::string chain_text(const SourceChain& chain) {
  std::string text;
  for (const SourceLine& line : chain) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " < ", line.file, line.line);
  }
  return text;
}

std::string place_text(const SourceChain& chain, std::int64_t ptx_line) {
  return chain.empty() ? fmt::format("PTX line {}", ptx_line) : chain_text(chain);
}

}  // namespace fatune
