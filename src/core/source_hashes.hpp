#pragma once

#include <map>
#include <string>

namespace fatune {

/// SHA-256 of the sources of each kernel family, by its name.
using SourceHashes = std::map<std::string, std::string>;

}  // namespace fatune
