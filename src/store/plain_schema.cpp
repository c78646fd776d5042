#include "store/plain_schema.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/visible_text.hpp"
#include "store/database.hpp"

namespace fatune {
namespace {

/// Every view, trigger, virtual table, generated column, check and condition of an index has one of
/// these words. No table or index of fatune has one.
constexpr std::array<std::string_view, 7> kActiveWords{"AS",   "CHECK",   "GENERATED", "TRIGGER",
                                                       "VIEW", "VIRTUAL", "WHERE"};
/// No operator and no comment can be made of these characters.
constexpr std::string_view kPlainMarks = "_ \t\n,\"'()";

bool is_word_character(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool has_plain_characters(std::string_view sql) {
  return std::ranges::all_of(sql, [](char c) {
    return is_word_character(c) || kPlainMarks.find(c) != std::string_view::npos;
  });
}

bool has_active_word(std::string_view sql) {
  std::string word;
  std::string last;
  for (const char c : sql) {
    if (is_word_character(c)) {
      word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      last = std::exchange(word, {});
    }
    const bool computes_default = c == '(' && last == "DEFAULT";
    if (computes_default || (word.empty() && std::ranges::count(kActiveWords, last) > 0)) {
      return true;
    }
  }
  return false;
}

/// In PRAGMA index_xinfo, -2 is the number of a column that is an expression.
constexpr const char* kSchema =
    "SELECT m.type, m.name, m.sql, m.type IN ('table', 'index') AND NOT EXISTS "
    "(SELECT 1 FROM pragma_index_xinfo(m.name) i WHERE m.type = 'index' AND i.cid = -2) "
    "FROM sqlite_master m";

bool is_plain(const Statement& row) {
  const std::string sql = row.text(2);
  return row.flag(3) && has_plain_characters(sql) && !has_active_word(sql);
}

}  // namespace

void refuse_active_schema(Database& database) {
  constexpr std::size_t kMostShown = 60;
  Statement rows = database.prepare(kSchema);
  while (rows.step()) {
    if (!is_plain(rows)) {
      throw Error(ExitCode::bad_file,
                  fmt::format("the database is not as fatune made it: the {} '{}' could run code",
                              visible_text(rows.text(0), kMostShown),
                              visible_text(rows.text(1), kMostShown)),
                  database.path().string(),
                  "do not use it: all that fatune makes is tables and indexes of plain columns");
    }
  }
}

}  // namespace fatune
