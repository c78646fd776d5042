#include "app/console/console.hpp"

#include <fmt/format.h>

#include "emit/document/render.hpp"
#include "emit/document/text_fit.hpp"

namespace fatune {

Page page_of(const OutputOptions& output) { return {output.format, output.columns, output.colour}; }

void print_document(const Document& document, const OutputOptions& output) {
  print_report(render(document, page_of(output)), output);
}

void print_report(std::string_view text, const OutputOptions& output) {
  const bool for_people = output.format == OutputFormat::table;
  print_result(wrapped_lines(text, for_people ? output.columns : 0));
}

void print_note(const OutputOptions& output, std::string_view text) {
  if (output.verbosity != Verbosity::quiet) {
    print_diagnostic(fmt::format("{}\n", text));
  }
}

}  // namespace fatune
