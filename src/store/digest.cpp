#include "store/digest.hpp"

#include <array>
#include <bit>

#include <fmt/format.h>

namespace fatune {

void Digest::update(std::string_view bytes) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char byte : bytes) {
    hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * kPrime;
  }
}

void Digest::add_bits(char type, std::uint64_t bits) {
  constexpr int kBitsPerByte = 8;
  std::array<char, 1 + sizeof bits> bytes{type};
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bits & 0xff);
    bits >>= kBitsPerByte;
  }
  update({bytes.data(), bytes.size()});
}

void Digest::add_integer(std::int64_t value) { add_bits('i', static_cast<std::uint64_t>(value)); }

void Digest::add(double value) { add_bits('r', std::bit_cast<std::uint64_t>(value)); }

void Digest::add(const std::string& value) {
  add_bits('t', value.size());
  update(value);
}

void Digest::add_null() { update("n"); }

void Digest::add_column(const Statement& row, int column) {
  const SQLite::Column value = row.column(column);
  if (value.isNull()) {
    add_null();
  } else if (value.isInteger()) {
    add_integer(value.getInt64());
  } else if (value.isFloat()) {
    add(value.getDouble());
  } else {
    add(value.getString());
  }
}

void Digest::add_row(const Statement& row, int first) {
  for (int column = first; column < row.columns(); ++column) {
    add_column(row, column);
  }
}

std::string Digest::hex() const { return fmt::format("{:016x}", hash_); }

}  // namespace fatune
