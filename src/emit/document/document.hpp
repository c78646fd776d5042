#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "emit/document/colour.hpp"
#include "emit/document/json_text.hpp"
#include "emit/document/table.hpp"
#include "plot/plot.hpp"

namespace fatune {

/// What people read, piece by piece. A piece says what it is, and a renderer how that looks.
namespace block {

/// Lines as they are, each with its line break.
struct Text {
  std::string lines;
};
/// The lines before and behind are paragraphs of their own: Markdown would join them.
struct ParagraphEnd {};
/// One line.
struct Heading {
  std::string line;
};
/// One line that must not be missed.
struct Warning {
  std::string line;
};
/// Lines whose blanks and breaks matter.
struct Verbatim {
  std::string lines;
};
struct Rows {
  /// A row in words, behind a word of its own colour.
  struct Paragraph {
    std::string word;
    TextColour colour;
    std::string text;
  };
  Table table;
  Shown kind = Shown::in_ranking;       ///< what its rows are
  std::size_t top = 0;                  ///< rows that a terminal shows; 0: all
  std::vector<Paragraph> paragraphs{};  ///< what a terminal shows in place of the rows
  bool numbered = false;                ///< marks of plots mean these rows, numbered from 0
};
struct Figure {
  Plot plot;
  std::string command;  ///< that makes it again
};
/// What follows, up to FoldEnd, is of interest to some readers; `line` says what it is.
struct Fold {
  std::string line;
};
struct FoldEnd {};

}  // namespace block

using Block =
    std::variant<block::Text, block::ParagraphEnd, block::Heading, block::Warning, block::Verbatim,
                 block::Rows, block::Figure, block::Fold, block::FoldEnd>;
using Blocks = std::vector<Block>;

/// What a command prints, for each of its readers. A part is made when a renderer asks for it, from
/// a report that lives as long as the document.
struct Document {
  std::function<Blocks()> for_people;  ///< on a terminal and in Markdown
  std::function<Table()> records;      ///< CSV
  std::function<Json()> object;        ///< JSON: json_head() and what follows
};

/// The members that every JSON document begins with: "format" is "fatune." and `name`.
[[nodiscard]] Json json_head(const std::string& name);

/// Rows and nothing else. `name` is that of json_head(), `property` that of the rows in JSON.
template <typename Row>
[[nodiscard]] Document rows_document(const char* name, const char* property,
                                     const std::vector<Field<Row>>& fields,
                                     const std::vector<Row>& rows) {
  const auto records = [&] { return table_of(fields, rows); };
  const auto object = [&fields, &rows, name, property] {
    Json json = json_head(name);
    json[property] = json_rows(fields, rows);
    return json;
  };
  return {[records] { return Blocks{block::Rows{records()}}; }, records, object};
}

void append(Blocks& blocks, Blocks more);

/// The line below a table that shows the first of its rows; empty when it shows them all.
[[nodiscard]] std::string more_rows_text(std::size_t shown, std::size_t all);

}  // namespace fatune
