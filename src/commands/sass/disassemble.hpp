#pragma once

#include <filesystem>
#include <string>

#include "core/kernel_code.hpp"
#include "sass/listing.hpp"

namespace fatune {

/// Returns the path of nvdisasm. Throws Error(bad_file), with how to get it, if there is none.
[[nodiscard]] std::string nvdisasm();

enum class LineInfo { without, with };

/// Disassembles a cubin on disk with nvdisasm. Messages call it `name`. Line information includes
/// inlining locations and PTX lines.
[[nodiscard]] Listing disassemble(const std::string& tool, const std::filesystem::path& cubin,
                                  const std::string& name, LineInfo lines = LineInfo::without);

/// Disassembles a cubin in memory, through a file in `folder`.
[[nodiscard]] Listing disassemble(const std::string& tool, const Artifact& artifact,
                                  const std::filesystem::path& folder, const std::string& name,
                                  LineInfo lines = LineInfo::without);

/// Returns the index of a function. Throws Error(usage), naming `source`, if there is none of that
/// name.
[[nodiscard]] std::size_t index_of(const Listing& listing, const std::string& name,
                                   const std::string& source);

}  // namespace fatune
