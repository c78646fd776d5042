#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/database.hpp"

namespace fatune {

/// 64-bit FNV-1a. It detects damage, not tampering. It is implemented here and not taken from a
/// library because users' databases hold these digests and must stay readable: another algorithm
/// would have to be added to this one.
/// Source: http://www.isthe.com/chongo/tech/comp/fnv/
class Digest {
 public:
  void update(std::string_view bytes);

  // These add a value as a column holds it, with its type. A row that is read back gives the same
  // digest as the values that were bound to it.
  void add(std::integral auto value) { add_integer(static_cast<std::int64_t>(value)); }
  void add(double value);
  void add(const std::string& value);
  template <typename Value>
  void add(const std::optional<Value>& value) {
    value ? add(*value) : add_null();
  }
  void add_column(const Statement& row, int column);
  /// Adds all columns of the current row from `first` on.
  void add_row(const Statement& row, int first = 0);

  [[nodiscard]] std::string hex() const;

 private:
  void add_integer(std::int64_t value);
  void add_null();
  void add_bits(char type, std::uint64_t bits);

  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace fatune
