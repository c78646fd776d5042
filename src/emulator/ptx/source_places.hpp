#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_line.hpp"

namespace fatune {

/// Source positions from .loc and .file. Files may come after the lines that name them, so chains
/// have file names only at the end.
class PtxLineTable {
 public:
  /// Reads `.file 1 "softmax.cuh"` or `.loc 1 53 5, function_name F, inlined_at 1 87 7`. A
  /// directive that cannot be read gives an unknown place, because nothing else depends on line
  /// information.
  void read_file(std::string_view directive);
  void read_loc(std::string_view directive);
  /// Gives code up to the next .loc the unknown place.
  void forget() { current_ = 0; }

  /// The place of the last .loc.
  [[nodiscard]] std::size_t place() const { return current_; }
  /// All places, by their index. The first is the unknown one.
  [[nodiscard]] std::vector<SourceChain> places() const;

 private:
  struct Position {
    std::int64_t file = 0;
    std::int64_t line = 0;
    std::int64_t column = 0;
    auto operator<=>(const Position&) const = default;
  };
  struct Place {
    Position at;
    std::size_t inlined_at = 0;
    auto operator<=>(const Place&) const = default;
  };

  static Position read_position(std::string_view& text);
  std::size_t index_of(const Place& place);

  std::map<std::int64_t, std::string> files_;
  std::vector<Place> places_{{}};
  std::map<Place, std::size_t> indices_{{Place{}, 0}};
  std::map<Position, std::size_t> latest_;  ///< the last place with that position
  std::size_t current_ = 0;
};

/// Replaces the names of files by those that #include gives them. NVRTC puts the folder that it was
/// called in before them. The longest name that fits is taken; others stay as they are.
void use_include_names(const SourceLines& files, std::vector<SourceChain>& places);

}  // namespace fatune
