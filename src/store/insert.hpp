#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "store/database.hpp"

namespace fatune {

/// A column of a row to insert.
template <typename Value>
struct Column {
  std::string_view name;
  Value value;
};
template <typename Value>
Column(const char*, Value) -> Column<Value>;

/// Inserts a row and returns its id.
template <typename... Values>
std::int64_t insert(Database& database, std::string_view table, const Column<Values>&... columns) {
  const std::array<std::string_view, sizeof...(columns)> names{columns.name...};
  const std::array<std::string_view, sizeof...(columns)> marks{((void)columns, "?")...};
  database
      .prepare(fmt::format("INSERT INTO {} ({}) VALUES ({})", table, fmt::join(names, ", "),
                           fmt::join(marks, ", ")))
      .bind(columns.value...)
      .run();
  return database.last_id();
}

}  // namespace fatune
