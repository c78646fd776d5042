#pragma once

#include <filesystem>
#include <string>

#include "core/kernel_code.hpp"
#include "sass/listing.hpp"

namespace fatune {

/// The path of nvdisasm. Error(bad_file), with how to get it, when it is not installed.
[[nodiscard]] std::string nvdisasm();

enum class LineInfo { without, with };

/// Disassembles a cubin on disk with nvdisasm; messages call it `name`. Line information includes
/// where code was inlined, and PTX lines.
[[nodiscard]] Listing disassemble(const std::string& tool, const std::filesystem::path& cubin,
                                  const std::string& name, LineInfo lines = LineInfo::without);

/// Disassembles a cubin in memory, through a file in that folder.
[[nodiscard]] Listing disassemble(const std::string& tool, const Artifact& artifact,
                                  const std::filesystem::path& folder, const std::string& name,
                                  LineInfo lines = LineInfo::without);

/// The index of a function. Error(usage), naming `source`, when there is none of that name.
[[nodiscard]] std::size_t index_of(const Listing& listing, const std::string& name,
                                   const std::string& source);

}  // namespace fatune
