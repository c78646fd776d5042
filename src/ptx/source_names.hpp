#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/kernel_code.hpp"
#include "core/source_line.hpp"

namespace fatune {

/// Files as #include names them ("flash_sm80/softmax.cuh"), each with its lines.
using SourceLines = std::map<std::string, std::vector<std::string>>;

[[nodiscard]] SourceLines lines_of_files(const SourceBundle& sources);

/// NVRTC puts the folder that it was called in before the names of files. The longest name that
/// fits is the file's; others stay as they are.
void use_include_names(const SourceLines& files, std::vector<SourceChain>& places);

}  // namespace fatune
