#include "commands/report_command.hpp"

#include <fmt/format.h>

#include "cli/option_groups.hpp"
#include "cli/path_option.hpp"
#include "cli/subcommands.hpp"
#include "cli/text_option.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kMostReportRows = 20000;

ReportFormat parse_report_format(const std::string& text) {
  if (text != "html" && text != "svg") {
    throw Error(ExitCode::usage, fmt::format("'{}' is not a report format", text), "--format",
                "choose html or svg");
  }
  return text == "svg" ? ReportFormat::svg : ReportFormat::html;
}

}  // namespace

void add_report_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "report", "Write what runs found as one HTML page with figures", report);
  CLI::Option* const inputs =
      sub.add_option(
             "INPUT", options.inputs,
             "runs, by number or last; results.json, best_configs.json; also what 'sass why' and "
             "compare_peers wrote (default: the shipped results)")
          ->type_name("N|last|FILE");
  add_text_option(
      sub, "--gpu", "NAME",
      "GPU whose shipped results are shown, by its name or a part of it (default: h200)",
      [&options = options](const std::string& text) { options.gpu = text; })
      ->excludes(inputs);
  add_path_option(
      sub, "--out", "FILE",
      "file for the page (default: report.html) or the figure; folder for all figures; -: "
      "standard output",
      options.out);
  add_text_option(sub, "--format", "html|svg", "html (default), or svg: figures alone",
                  [&options = options](const std::string& text) {
                    options.format = parse_report_format(text);
                  });
  add_text_option(sub, "--plot", "ID", "only the figure of that name; with --format svg",
                  [&options = options](const std::string& text) { options.plot = text; });
  add_integer(sub, "--rows",
              fmt::format("configurations shown one by one (default: {})", kReportRows), 1,
              kMostReportRows, options.rows);
  add_db_option(sub, options.db_file);
  add_verbosity_options(sub, options.output);
  sub.footer(
      R"(The page needs no network and no server, and can be read without JavaScript. Several runs are
shown side by side; the others are compared with the first. Figures, and how to read them:
docs/report.md.

Examples:
  fatune report
  fatune report --gpu h200
  fatune report last --out last.html
  fatune report before/results.json after/results.json
  fatune report last --format svg --plot ranking-1 --out ranking.svg)");
}

}  // namespace fatune
