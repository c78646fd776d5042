#include "base/source_line.hpp"

#include <fmt/format.h>

#include "base/text_parts.hpp"

namespace fatune {

std::string chain_text(const SourceChain& chain) {
  return joined(chain, " < ",
                [](const SourceLine& line) { return fmt::format("{}:{}", line.file, line.line); });
}

std::string place_text(const SourceChain& chain, std::int64_t ptx_line) {
  return chain.empty() ? fmt::format("PTX line {}", ptx_line) : chain_text(chain);
}

}  // namespace fatune
