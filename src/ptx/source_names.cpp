#include "ptx/source_names.hpp"

#include <string_view>

#include "core/text_parts.hpp"

namespace fatune {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.emplace_back(take_until(text, '\n'));
  }
  return lines;
}

}  // namespace

SourceLines lines_of_files(const SourceBundle& sources) {
  SourceLines files;
  files[sources.main.name] = lines_of(sources.main.text);
  for (const SourceFile& header : sources.headers) {
    files[header.name] = lines_of(header.text);
  }
  return files;
}

void use_include_names(const SourceLines& files, std::vector<SourceChain>& places) {
  for (SourceChain& chain : places) {
    for (SourceLine& line : chain) {
      std::string_view best;
      for (const auto& [name, text] : files) {
        if (line.file.ends_with("/" + name) && name.size() > best.size()) {
          best = name;
        }
      }
      line.file = best.empty() ? line.file : std::string(best);
    }
  }
}

}  // namespace fatune
