#include <cctype>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "base/text_parts.hpp"
#include "base/visible_text.hpp"
#include "print/document/document.hpp"

namespace fatune {
namespace {

/// Turns "What won, and by how much" into "what-won-and-by-how-much".
std::string anchor_of(std::string_view line) {
  std::string anchor;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      anchor += static_cast<char>(std::tolower(byte));
    } else if (!anchor.empty() && anchor.back() != '-') {
      anchor += '-';
    }
  }
  return anchor.substr(0, anchor.find_last_not_of('-') + 1);
}

/// Puts each line between `before` and `after`. Leaves out empty lines.
std::string html_lines(std::string_view lines, std::string_view before, std::string_view after) {
  std::string html;
  while (!lines.empty()) {
    if (const std::string_view line = take_until(lines, '\n'); !line.empty()) {
      html += fmt::format("{}{}{}\n", before, markup(line), after);
    }
  }
  return html;
}

/// Wraps HTML in a region that scrolls, also by keyboard, where it is wider than the page or, if it
/// is `tall`, higher than a part of it.
std::string html_scrolled(const std::string& label, const std::string& html, bool tall = false) {
  return fmt::format(
      "<div class=\"scroll{}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</div>\n",
      tall ? " tall" : "", markup(label), html);
}

std::vector<std::size_t> shown_columns(const Table& table, Shown kind) {
  return filtered(indices_of(table.columns),
                  [&](std::size_t column) { return is_shown(table, column, kind); });
}

bool is_figure(const Table& table, std::size_t column) {
  return table.columns[column].figure ||
         (std::ranges::any_of(table.rows,
                              [column](const auto& row) { return is_number(row[column]); }) &&
          std::ranges::all_of(table.rows, [column](const auto& row) {
            return is_number(row[column]) || !has_value(row[column]);
          }));
}

bool is_text(const FieldValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  return text != nullptr && !text->empty();
}

bool has_text(const Table& table, std::size_t column) {
  return std::ranges::any_of(table.rows,
                             [column](const auto& row) { return is_text(row[column]); });
}

class HtmlTable {
 public:
  explicit HtmlTable(const block::Rows& rows) : rows_(rows) {}

  [[nodiscard]] std::string text() const {
    std::string html = rows_.numbered  ? "<table id=\"rows\">"
                       : rows_.stacked ? "<table class=\"stacked\">"
                                       : "<table>";
    html += "<thead><tr>";
    html += joined(indices_of(columns_), "", [&](std::size_t i) { return head_cell(i); });
    html += "</thead>\n<tbody>\n";
    html += joined(indices_of(rows_.table.rows), "", [&](std::size_t i) { return body_row(i); });
    return html + "</table>";
  }

 private:
  [[nodiscard]] std::string head_cell(std::size_t i) const {
    const Table::Column& column = rows_.table.columns[columns_[i]];
    const std::string data =
        rows_.numbered ? fmt::format(" data-name=\"{}\" data-kind=\"{}\"", markup(column.name),
                                     is_figure(rows_.table, columns_[i]) ? "number" : "text")
                       : std::string();
    return fmt::format("<th scope=\"col\"{}{}>{}", css_class(has_text(rows_.table, columns_[i])),
                       data, markup(column.heading));
  }
  /// Leaves out end tags that HTML does not need, because there are many cells.
  [[nodiscard]] std::string body_row(std::size_t row) const {
    std::string html = rows_.numbered ? fmt::format("<tr data-row=\"{}\">", row) : "<tr>";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto& column = rows_.table.columns[columns_[i]];
      const FieldValue& value = rows_.table.rows[row][columns_[i]];
      html += fmt::format("<td{}{}>", css_class(is_text(value)), stacked_attribute(column));
      html += has_value(value) ? markup(cell_text(value, column.look.decimals)) : std::string();
    }
    return html + "\n";
  }
  /// What stands in front of a stacked cell. Cells that wrap take a line of their own.
  [[nodiscard]] std::string stacked_attribute(const Table::Column& column) const {
    return !rows_.stacked      ? std::string()
           : column.look.wraps ? " data-line"
                               : fmt::format(" data-heading=\"{}\"", markup(column.heading));
  }
  /// Cells are aligned like numbers unless they have the class of text cells.
  [[nodiscard]] static const char* css_class(bool text) { return text ? " class=t" : ""; }

  const block::Rows& rows_;
  std::vector<std::size_t> columns_ = shown_columns(rows_.table, rows_.kind);
};

/// Collects blocks as HTML. A heading ends the section before it.
class HtmlBody {
 public:
  void operator()(const block::Text& text) { html_ += html_lines(text.lines, "<p>", "</p>"); }
  void operator()(const block::Line& line) { html_ += "<p>" + markup(line.line) + "</p>\n"; }
  void operator()(const block::ParagraphEnd&) {}
  void operator()(const block::Heading& heading) {
    end_section();
    const std::string anchor = anchor_of(heading.line);
    contents_ += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", anchor, markup(heading.line));
    html_ += fmt::format(
        "<section id=\"{0}\" aria-labelledby=\"{0}-heading\">\n<h2 id=\"{0}-heading\">{1}</h2>\n",
        anchor, markup(heading.line));
    heading_ = heading.line;
    tables_ = 0;
    in_section_ = true;
  }
  void operator()(const block::Warning& warning) {
    html_ += "<p class=\"warning\">" + markup(warning.line) + "</p>\n";
  }
  void operator()(const block::Verbatim& verbatim) {
    html_ +=
        html_scrolled(heading_ + ": text", "<pre>" + html_lines(verbatim.lines, "", "") + "</pre>");
  }
  void operator()(const block::Rows& rows) {
    if (rows.numbered) {
      html_ += "<div id=\"filters\" hidden></div>\n<p id=\"shown\" role=\"status\"></p>\n";
    }
    constexpr std::size_t kMostUnscrolled = 16;
    const bool tall = rows.numbered || (rows.stacked && rows.table.rows.size() > kMostUnscrolled);
    const std::string label = heading_ + ": table";
    html_ += html_scrolled(++tables_ == 1 ? label : fmt::format("{} {}", label, tables_),
                           HtmlTable(rows).text(), tall);
  }
  void operator()(const block::Figure& figure) {
    const Plot& plot = figure.plot;
    html_ += fmt::format("<figure id=\"{}\">\n<figcaption><h3>{}</h3><p>{}</p></figcaption>\n",
                         markup(plot.id), markup(plot.title), markup(plot.summary));
    html_ += html_scrolled(plot.title, has_narrow_svg(plot) ? svg(plot, SvgPlace::page) +
                                                                  svg(plot, SvgPlace::narrow_page)
                                                            : svg(plot, SvgPlace::page));
    html_ += "<details><summary>Data, and the command that draws this figure again</summary>\n";
    if (const Table table = plot_table(plot); !table.rows.empty()) {
      html_ += html_scrolled(plot.title + ": data", HtmlTable({table}).text());
    } else {
      html_ +=
          "<p>Its marks are the rows of the <a href=\"#rows\">table of configurations</a>.</p>\n";
    }
    html_ += "<pre>" + markup(figure.command) + "</pre>\n</details>\n</figure>\n";
  }
  void operator()(const block::Fold& fold) {
    html_ += "<details class=\"fold\"><summary>" + markup(fold.line) + "</summary>\n";
  }
  void operator()(const block::FoldEnd&) { html_ += "</details>\n"; }

  /// The sections, with the contents after the first, which has the result.
  [[nodiscard]] std::string text() {
    end_section();
    html_.insert(end_of_first_,
                 "<nav aria-label=\"Contents\"><ol>\n" + contents_ + "</ol></nav>\n");
    return "<main>\n" + html_ + "</main>\n";
  }

 private:
  void end_section() {
    if (std::exchange(in_section_, false)) {
      html_ += "</section>\n";
      end_of_first_ = end_of_first_ == 0 ? html_.size() : end_of_first_;
    }
  }

  std::string html_;
  std::string contents_;
  int tables_ = 0;  ///< the number of tables in the section
  std::string heading_;
  bool in_section_ = false;
  std::size_t end_of_first_ = 0;  ///< a place in html_
};

/// The policy: the page fetches nothing, and obeys only style and script with these hashes.
std::string policy_element(std::string_view style, std::string_view script) {
  return fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n",
      sha256_base64(style), sha256_base64(script));
}

std::string html_warnings(const PageHead& head) {
  return joined(head.warnings, "", [&](const std::string& warning) {
    return "<p class=\"warning\">" + markup(warning) + "</p>\n";
  });
}

}  // namespace

std::string render_html(const Blocks& blocks, const PageHead& head, const PageParts& parts) {
  HtmlBody body;
  for (const Block& block : blocks) {
    std::visit(body, block);
  }
  const std::string style = fmt::format("\n{}{}", parts.style, plot_style());
  const std::string script = fmt::format("\n{}\n{}", parts.library, parts.script);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<header>{}<h1>{}</h1>\n<p class=\"lead\">{}</p></header>\n{}"
      "<script>{}</script>\n</body>\n</html>\n",
      policy_element(style, script), markup(head.title), style, html_warnings(head),
      markup(head.title), markup(head.lead), body.text(), script);
}

}  // namespace fatune
