#include "emit/document/table_layout.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "core/visible_text.hpp"
#include "emit/document/shared_parts.hpp"

namespace fatune {
namespace {

/// Words are kept whole up to this width, as long as another column can give room.
constexpr std::size_t kWideWord = 24;

std::vector<std::string> cells_of(const TextTable& table, std::size_t column) {
  std::vector<std::string> cells;
  for (const auto& row : table.rows) {
    cells.push_back(row[column]);
  }
  return cells;
}

void erase_column(std::size_t column, TextTable& table) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  table.columns.erase(table.columns.begin() + at);
  for (auto& row : table.rows) {
    row.erase(row.begin() + at);
  }
}

std::size_t natural_width(const TextTable& table, std::size_t column) {
  std::size_t width = width_of(table.columns[column].heading);
  for (const auto& row : table.rows) {
    width = std::max(width, width_of(row[column]));
  }
  return width;
}

std::vector<std::size_t> natural_widths(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(natural_width(table, i));
  }
  return widths;
}

std::size_t line_width(const std::vector<std::size_t>& widths) {
  const std::size_t gaps = widths.empty() ? 0 : kColumnGap * (widths.size() - 1);
  return std::accumulate(widths.begin(), widths.end(), gaps);
}

/// The widths before any column is left out: those with a least width are no wider than that.
std::vector<std::size_t> first_widths(const TextTable& table) {
  std::vector<std::size_t> widths = natural_widths(table);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::size_t least = table.columns[i].look.least;
    widths[i] = least == 0 ? widths[i] : std::min(widths[i], least);
  }
  return widths;
}

bool all_equal(const std::vector<std::string>& cells) {
  return !cells.empty() &&
         std::ranges::all_of(cells, [&](const std::string& cell) { return cell == cells.front(); });
}

/// The beginning of the line that states what the column's cells have in common.
std::string in_every(const std::string& heading) { return "every " + heading + ": "; }

/// Moves what the column's rows have in common above the table. True if that removes the column.
bool share_column(std::size_t column, FittedTable& fitted) {
  TextTable& table = fitted.table;
  const auto [heading, right, look] = table.columns[column];
  const std::vector<std::string> cells = cells_of(table, column);
  if ((look.once || look.config) && all_equal(cells)) {
    fitted.shared.push_back(heading + ": " + cells.front());
    erase_column(column, table);
    return true;
  }
  const auto parts = look.config ? share_parts(cells) : std::nullopt;
  if (parts) {
    fitted.shared.push_back(in_every(heading) + parts->common);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      table.rows[i][column] = parts->rest[i];
    }
  }
  return false;
}

void share_columns(FittedTable& fitted) {
  for (std::size_t i = 0; i < fitted.table.columns.size();) {
    i += share_column(i, fitted) ? 0U : 1U;
  }
}

/// The next column to leave out; the last of several with the same number. Nothing if all remaining
/// columns stay.
std::optional<std::size_t> next_to_leave(const TextTable& table) {
  std::optional<std::size_t> next;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const int order = table.columns[i].look.leaves;
    if (order > 0 && (!next || order <= table.columns[*next].look.leaves)) {
      next = i;
    }
  }
  return next;
}

void let_columns_leave(std::size_t columns, FittedTable& fitted) {
  while (line_width(first_widths(fitted.table)) > columns) {
    const auto next = next_to_leave(fitted.table);
    if (!next) {
      return;
    }
    const std::string heading = fitted.table.columns[*next].heading;
    fitted.left_out.push_back(heading);
    std::erase_if(fitted.shared,
                  [&](const std::string& shared) { return shared.starts_with(in_every(heading)); });
    erase_column(*next, fitted.table);
  }
}

/// The least width at which each column keeps its words whole; columns that do not wrap stay as
/// wide as they are.
std::vector<std::size_t> word_widths(const TextTable& table) {
  std::vector<std::size_t> widths = natural_widths(table);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (wraps(table.columns[i].look)) {
      widths[i] = width_of(table.columns[i].heading);
      for (const std::string& cell : cells_of(table, i)) {
        widths[i] = std::max(widths[i], std::min(widest_word(cell), kWideWord));
      }
    }
  }
  return widths;
}

/// The next column to narrow: the widest that need not shorten a word, else the widest of all.
std::size_t widest(const std::vector<std::size_t>& words, const std::vector<std::size_t>& widths) {
  const auto rank = [&](std::size_t i) { return std::pair(widths[i] > words[i], widths[i]); };
  std::size_t best = 0;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    best = rank(i) > rank(best) ? i : best;
  }
  return best;
}

void narrow(const TextTable& table, std::size_t columns, std::vector<std::size_t>& widths) {
  const std::vector<std::size_t> words = word_widths(table);
  while (line_width(widths) > columns) {
    std::size_t& width = widths.at(widest(words, widths));
    if (width <= 1) {
      return;
    }
    --width;
  }
}

}  // namespace

bool wraps(const Look& look) { return look.least > 0 || look.config || look.once; }

FittedTable fit_table(TextTable table, std::size_t columns) {
  FittedTable fitted{std::move(table), {}, {}, {}};
  fitted.widths = natural_widths(fitted.table);
  if (columns == 0 || line_width(fitted.widths) <= columns) {
    return fitted;
  }
  share_columns(fitted);
  let_columns_leave(columns, fitted);
  fitted.widths = natural_widths(fitted.table);
  narrow(fitted.table, columns, fitted.widths);
  return fitted;
}

}  // namespace fatune
