#include "app/console/console.hpp"

#include <fmt/format.h>

#include "core/text_fit.hpp"
#include "core/visible_text.hpp"
#include "emit/document/render.hpp"
#include "emit/document/table_view.hpp"

namespace fatune {

void print_document(const Document& document, const OutputOptions& output) {
  const Document& shown = output.view.is_set() ? viewed(document, output.view) : document;
  const std::string text = render(shown, {output.format, output.columns, output.colour});
  const bool on_terminal = output.format == OutputFormat::table;
  print_result(on_terminal ? wrapped_lines(text, output.columns) : text);
}

void print_text(std::string_view text) { print_result(visible_lines(text)); }

void print_note(const OutputOptions& output, std::string_view text) {
  if (output.verbosity != Verbosity::quiet) {
    print_diagnostic(visible_lines(text) + "\n");
  }
}

}  // namespace fatune
