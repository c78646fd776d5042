#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/kernel_code.hpp"
#include "core/source_line.hpp"

namespace fatune {

/// The lines of files, by the name that #include gives them ("flash_sm80/softmax.cuh").
using SourceLines = std::map<std::string, std::vector<std::string>>;

[[nodiscard]] SourceLines lines_of_files(const SourceBundle& sources);

/// Replaces the names of files by those that #include gives them. NVRTC puts the folder that it was
/// called in before them. The longest name that fits is taken; others stay as they are.
void use_include_names(const SourceLines& files, std::vector<SourceChain>& places);

}  // namespace fatune
