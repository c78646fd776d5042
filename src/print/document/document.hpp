#pragma once

#include "model/output_format.hpp"
#include "print/document/table.hpp"
#include "print/plot/plot.hpp"

namespace fatune {

enum class TextColour { bold, green, yellow, red };

/// The pieces of a document for people. A piece says what it is; a renderer decides how it looks.
namespace block {

/// Lines of fatune's own words, each with its line break. Texts from files in them have gone
/// through visible_line(), so that they cannot add lines.
struct Text {
  std::string lines;
};
/// One line, which no text in it can break.
struct Line {
  std::string line;
};
/// Ends a paragraph: without it, Markdown would join the lines before and after.
struct ParagraphEnd {};
/// One line.
struct Heading {
  std::string line;
};
/// One line that must not be missed.
struct Warning {
  std::string line;
};
/// Lines whose spaces and line breaks must be kept.
struct Verbatim {
  std::string lines;
};
struct Rows {
  /// A row in words: a coloured word, then the text.
  struct Paragraph {
    std::string word;
    TextColour colour;
    std::string text;
  };
  Table table;
  Shown kind = Shown::in_ranking;       ///< the columns to show besides those shown everywhere
  std::size_t more = 0;                 ///< rows that were left out
  std::vector<Paragraph> paragraphs{};  ///< shown on a terminal instead of the rows
  bool numbered = false;                ///< marks of plots refer to these rows, from 0
  bool stacked = false;                 ///< a narrow HTML page stacks the cells of a row
};
struct Figure {
  Plot plot;
  std::string command;  ///< the command that draws it again
};
/// Begins blocks, up to FoldEnd, that interest only some readers. `line` says what they are.
struct Fold {
  std::string line;
};
struct FoldEnd {};

}  // namespace block

using Block =
    std::variant<block::Text, block::Line, block::ParagraphEnd, block::Heading, block::Warning,
                 block::Verbatim, block::Rows, block::Figure, block::Fold, block::FoldEnd>;
using Blocks = std::vector<Block>;

/// The output of a command, in a form for each kind of reader. A part is made when a renderer asks
/// for it, from a report that must live as long as the document.
struct Document {
  std::function<Blocks()> for_people;  ///< what a terminal and Markdown show
  std::function<Table()> records;      ///< CSV
  std::function<Json()> object;        ///< JSON: json_head() and what follows
};

/// Returns the members that begin every JSON document. "format" is "fatune." followed by `name`.
[[nodiscard]] Json json_head(const std::string& name, int version = 1);
/// A whole document: json_head(), then `members`.
[[nodiscard]] Json json_document(const std::string& name, const Json& members);

/// What a document of rows has besides them.
struct BesideRows {
  Json members = Json::object();  ///< those of the JSON object that come before the rows
  std::string if_empty{};         ///< shown to people if there are no rows
  std::string below{};            ///< shown to people below the rows
};
/// A document of rows only. `name` goes to json_head(), `property` is the JSON key of the rows.
template <typename Row>
[[nodiscard]] Document rows_document(const char* name, const char* property,
                                     const Fields<Row>& fields, const std::vector<Row>& rows,
                                     const BesideRows& beside = {}) {
  const auto records = [fields, &rows] { return table_of(fields, rows); };
  const auto for_people = [&rows, records, beside] {
    return rows.empty() && !beside.if_empty.empty()
               ? Blocks{block::Text{beside.if_empty}}
               : Blocks{block::Rows{records()}, block::Text{beside.below}};
  };
  const auto object = [fields, &rows, name, property, beside] {
    Json json = json_document(name, beside.members);
    json[property] = json_rows(fields, rows);
    return json;
  };
  return {for_people, records, object};
}

void append(Blocks& blocks, Blocks more);
[[nodiscard]] Blocks joined_blocks(std::initializer_list<Blocks> parts);

/// How many of the rows a table shows with `--top`; 0: all.
[[nodiscard]] inline std::size_t count_shown(std::size_t rows, std::size_t top) {
  return top == 0 ? rows : std::min(top, rows);
}
/// The block of the first `top` rows; 0: of all.
template <typename Row>
[[nodiscard]] block::Rows first_rows(const Fields<Row>& fields, std::vector<Row> rows,
                                     std::size_t top) {
  const std::size_t more = rows.size() - count_shown(rows.size(), top);
  rows.erase(rows.end() - static_cast<std::ptrdiff_t>(more), rows.end());
  return {.table = table_of(fields, rows), .more = more};
}

/// The data of a plot, with a row for each mark. Marks that stand for a configuration are left out:
/// the table of configurations has them.
[[nodiscard]] Table plot_table(const Plot& plot);

/// How far a command got through its list.
struct Coverage {
  std::size_t done = 0;
  std::size_t planned = 0;
  bool complete = true;  ///< false: the user has interrupted it
};

/// The text in tables and Markdown about an interrupted list; empty when it was not interrupted.
/// JSON says "complete".
[[nodiscard]] std::string incomplete_text(const Coverage& coverage);

/// The page that a report is printed on. A format alone converts to a page whose tables are as wide
/// as they need.
struct Page {
  // NOLINTNEXTLINE(google-explicit-constructor)
  Page(OutputFormat of_format, std::size_t most_columns = 0, bool with_colour = false)
      : format(of_format), columns(most_columns), colour(with_colour) {}

  OutputFormat format;
  std::size_t columns;  ///< the most columns of a table's line (docs/tables.md); 0: no limit
  bool colour;          ///< ANSI colours; on a terminal only
};

/// Renders a document in the page's format. The text ends with a line break.
[[nodiscard]] std::string render(const Document& document, const Page& page);

/// Renderers for one format each.
[[nodiscard]] std::string render_terminal(const Blocks& blocks, const Page& page);
[[nodiscard]] std::string render_markdown(const Blocks& blocks);
/// The parts that all HTML pages have in common.
struct PageParts {
  std::string_view style;    ///< CSS
  std::string_view library;  ///< third-party JavaScript, with its licence
  std::string_view script;   ///< fatune's own JavaScript
};
struct PageHead {
  std::string title;
  std::string lead;                     ///< one paragraph below the title
  std::vector<std::string> warnings{};  ///< above everything else on the page
};
/// Renders a page that refers to nothing outside of it and runs only the scripts of `parts`.
[[nodiscard]] std::string render_html(const Blocks& blocks, const PageHead& head,
                                      const PageParts& parts);

// Filters, sorts and selects records by their typed fields, in the same way for all commands.

/// Filters and sorts the records and selects columns. A record is dropped if absent values leave it
/// unknown whether the filter holds. Throws Error(usage) for an unknown column, with a list of the
/// table's columns, and for an expression that cannot be read.
[[nodiscard]] Table viewed(Table table, const TableView& view);

/// A document of the viewed records and the warnings of `document`. As JSON it is a list of the
/// records. `document` must outlive it.
[[nodiscard]] Document viewed(const Document& document, const TableView& view);

/// A record as a JSON object whose keys are the names of the columns.
[[nodiscard]] Json json_record(const Table& records, const std::vector<FieldValue>& row);
/// The records as JSON, one on each line.
[[nodiscard]] std::string json_lines(const Table& records);

}  // namespace fatune
