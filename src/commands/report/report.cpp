#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "base/text_parts.hpp"
#include "cli/subcommands.hpp"
#include "model/output_format.hpp"
#include "print/figures/plots.hpp"
#include "print/files.hpp"
#include "print/plot/plot.hpp"
#include "store/study_inputs.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kReportRows = 1500;

struct ReportOptions {
  std::vector<std::string> inputs;  ///< runs of the store ("12", "last") and files; none: shipped
  std::optional<std::filesystem::path> db_file;
  std::optional<std::string> gpu;  ///< whose shipped results; absent: the H200's
  ReportFormat format = ReportFormat::html;
  /// The page, a figure's file, or the folder of all figures; "-": standard output.
  std::optional<std::filesystem::path> out;
  std::optional<std::string> plot;  ///< id of the figure; absent: all of them
  std::int64_t rows = kReportRows;  ///< configurations that are shown one by one
  OutputOptions output;
};

namespace fs = std::filesystem;

constexpr const char* kPage = "report.html";
constexpr const char* kStandardOutput = "-";

std::string page_of(const StudyReport& study) {
  const FileTree tree;
  const std::string style = tree.read("src/print/page/report.css");
  const std::string library = tree.read("page/d3.js");
  const std::string script = tree.read("src/print/page/report.js");
  return render_html(study_blocks(study), study_head(study), {style, library, script});
}

/// Writes the bytes to standard output, or to a file, with a note that names it.
void deliver(const ReportOptions& options, const fs::path& out, const std::string& bytes) {
  if (out == kStandardOutput) {
    print_result(bytes);
    return;
  }
  write_output_file(out, bytes);
  constexpr std::size_t kBytesPerKb = 1000;
  print_note(options.output,
             fmt::format("{}: {} KB", out.string(), bytes.size() / kBytesPerKb + 1));
}

const Plot& find_plot(const std::vector<Plot>& plots, const std::string& id) {
  const auto found = std::ranges::find(plots, id, &Plot::id);
  if (found == plots.end()) {
    throw Error(ExitCode::usage, fmt::format("the report has no figure '{}'", id), "--plot",
                "name one of " + joined(plots, ", ", &Plot::id));
  }
  return *found;
}

void write_figures(const ReportOptions& options, const std::vector<Plot>& plots) {
  if (options.plot) {
    deliver(options, options.out.value_or(kStandardOutput),
            svg(find_plot(plots, *options.plot), SvgPlace::file));
    return;
  }
  for (const Plot& plot : plots) {
    deliver(options, *options.out / (plot.id + ".svg"), svg(plot, SvgPlace::file));
  }
}

/// Throws Error(usage) for options that exclude each other.
void check_options(const ReportOptions& options) {
  if (options.format == ReportFormat::html && options.plot) {
    throw Error(ExitCode::usage, "a page has all figures", "--plot", "add --format svg");
  }
  const bool folder_needed = options.format == ReportFormat::svg && !options.plot;
  if (folder_needed && (!options.out || *options.out == kStandardOutput)) {
    throw Error(ExitCode::usage, "several figures need a folder", "--format svg",
                "name one figure with --plot, or the folder with --out");
  }
}

/// Returns the command that makes the report again, without the option for its destination.
std::string command_of(const ReportOptions& options) {
  const auto word_of = [](const std::string& input) { return " " + shell_word(input); };
  std::string command = "fatune report" + joined(options.inputs, "", word_of);
  if (options.db_file) {
    command += " --db " + shell_word(options.db_file->string());
  }
  if (options.gpu) {
    command += " --gpu " + shell_word(*options.gpu);
  }
  return command;
}

ExitCode report(const ReportOptions& options) {
  check_options(options);
  const fs::path page = options.out.value_or(kPage);
  if (options.format == ReportFormat::html && page != kStandardOutput) {
    check_output_file(page);
  }
  StudyReport study = load_study(options.inputs, options.db_file, options.gpu);
  study.command = command_of(options);
  study.most_rows = static_cast<std::size_t>(options.rows);
  if (options.format == ReportFormat::svg) {
    write_figures(options, study_plots(study));
  } else {
    deliver(options, page, page_of(study));
  }
  return ExitCode::ok;
}

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
  add_value(sub, "--gpu", "NAME",
            "GPU whose shipped results are shown, by its name or a part of it (default: h200)",
            options.gpu)
      ->excludes(inputs);
  add_path_option(
      sub, "--out", "FILE",
      "file for the page (default: report.html) or the figure; folder for all figures; -: "
      "standard output",
      options.out);
  add_value(sub, "--format", "html|svg", "html (default), or svg: figures alone", options.format,
            parse_report_format);
  add_value(sub, "--plot", "ID", "only the figure of that name; with --format svg", options.plot);
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
