#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emit/sass_report.hpp"
#include "ptx/parse_ptx.hpp"
#include "sass/loops.hpp"
#include "sass/profile.hpp"

namespace fatune {

/// A source line with its text and the counts of the instructions that it became.
struct MapLineRow {
  LineCount count;
  std::string text;  ///< empty: the source is not at hand
};
/// A PTX instruction.
struct MapPtxRow {
  std::int64_t line = 0;
  int depth = 0;  ///< 0: belongs to the line asked for; else steps away from it
  std::string text;
  SourceChain source;
};
/// A machine instruction.
struct MapSassRow {
  std::uint64_t address = 0;
  std::string text;
  OpcodeClass which = OpcodeClass::unknown;
  LoopPlace place = LoopPlace::outside;
  std::int64_t ptx_line = 0;  ///< 0: not known
  SourceChain source;
};

/// The code that belongs to one line.
struct MapSelection {
  std::string what;                ///< "softmax.cuh:40", "PTX line 70", "SASS 0x22d0"
  std::vector<MapLineRow> source;  ///< innermost first
  std::vector<MapPtxRow> ptx;      ///< ordered by line
  std::vector<MapSassRow> sass;    ///< ordered by address
};

struct SassMapReport {
  SassReport code;
  SassCount without_line;         ///< instructions of no known line
  std::vector<MapLineRow> lines;  ///< hottest first
  std::optional<MapSelection> selection;
  /// Text of each source file, by line; for annotated_source.
  std::map<std::string, std::vector<std::string>> files;
};

[[nodiscard]] Fields<MapLineRow> map_line_fields();
[[nodiscard]] Fields<MapPtxRow> map_ptx_fields();
[[nodiscard]] Fields<MapSassRow> map_sass_fields();

/// The selection, or else the lines (`top` of them in tables; 0: all). CSV has the selection's
/// machine instructions, else the lines. JSON follows configs/schema/sass_map.schema.json.
[[nodiscard]] Document sass_map_document(const SassMapReport& report, std::size_t top);

/// The whole source files that have code, with each line's counts in front of it.
[[nodiscard]] std::string annotated_source(const SassMapReport& report);

}  // namespace fatune
