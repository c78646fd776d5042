#include "commands/sass/sass_command.hpp"

#include "app/console/console.hpp"
#include "app/scratch_folder.hpp"
#include "commands/sass/sass_code.hpp"
#include "core/error.hpp"
#include "emit/output_file.hpp"
#include "emit/sass_report.hpp"
#include "process/find_tool.hpp"
#include "process/run_program.hpp"
#include "sass/listing_text.hpp"
#include "sass/normal_form.hpp"

namespace fatune {
namespace {

SassReport report_of(const SassCode& code) {
  return {code.source, code.facts, profile_function(code.listing, code.kernel())};
}

/// Returns the graph as SVG, drawn by Graphviz. Throws Error(bad_file) if that is not installed.
std::string drawn(const std::string& graph) {
  const auto dot = find_dot();
  if (!dot) {
    throw Error(ExitCode::bad_file, "dot, which draws the graph, is not installed", "--format svg",
                "run 'apt-get install graphviz', set its path in FATUNE_DOT, or use --format dot");
  }
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch.path() / "graph.dot";
  write_output_file(file, graph);
  return run_program(dot->string(), {"-Tsvg", file.string()}).out;
}

}  // namespace

ExitCode sass(const SassOptions& options) {
  const SassCode code = load_code(options, named_source(options));
  print_document(sass_document(report_of(code), options.opcodes), options.output);
  return ExitCode::ok;
}

ExitCode sass_diff(const SassOptions& options) {
  const SassCode a = load_code(options, options.sources.at(0));
  const SassCode b = load_code(options, options.sources.at(1));
  if (options.listing) {
    print_text(print_listing_diff({a.source, normal_form(a.kernel())},
                                  {b.source, normal_form(b.kernel())}));
  } else {
    print_document(sass_diff_document(report_of(a), report_of(b), options.opcodes), options.output);
  }
  return ExitCode::ok;
}

ExitCode sass_graph(const SassOptions& options) {
  const std::string graph = graph_text(load_code(options, named_source(options)).kernel());
  print_text(options.svg ? drawn(graph) : graph);
  return ExitCode::ok;
}

ExitCode sass_clean(const SassOptions& options) {
  print_text(clean_text(load_code(options, named_source(options)).kernel()));
  return ExitCode::ok;
}

}  // namespace fatune
