#include "inspect/sanitizer_report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

using Places = std::set<std::string>;

/// The place of an access: "kernel+0xd0" of "Read access at kernel+0xd0".
std::string place_of(const std::string& access) {
  constexpr std::string_view kMark = " access at ";
  const std::size_t at = access.find(kMark);
  return at == std::string::npos ? access : access.substr(at + kMark.size());
}

/// The name that represents a race: its first access.
const std::string& name_of(const SanitizerFinding& race) {
  return race.place.empty() ? race.what : race.place;
}

Places places_of(const SanitizerFinding& race) {
  Places places{name_of(race)};
  for (const std::string& access : race.against) {
    places.insert(place_of(access));
  }
  return places;
}

/// Joins the places with all groups that share a place with them.
void add(Places places, std::vector<Places>& groups) {
  const auto shares = [&](const Places& group) {
    return std::ranges::any_of(group, [&](const auto& place) { return places.contains(place); });
  };
  const auto first = std::ranges::find_if(groups, shares);
  if (first == groups.end()) {
    groups.push_back(std::move(places));
    return;
  }
  const auto apart = std::stable_partition(first, groups.end(), shares);
  for (auto group = std::next(first); group != apart; ++group) {
    first->merge(*group);
  }
  first->merge(places);
  groups.erase(std::next(first), apart);
}

/// Escapes '%', which begins a placeholder in the tool's file names.
std::string escaped(const std::string& path) {
  return joined(path, "", [](char c) { return c == '%' ? "%%" : std::string(1, c); });
}

constexpr std::string_view kPrefix = "=========";
constexpr std::size_t kMostFindings = 1000;  // limit for findings of different kinds and places
constexpr std::size_t kMostDetailBytes = 1000;
constexpr std::int64_t kMostHazards = std::int64_t{1} << 40;  // limit for the number in one line

struct Kind {
  std::string_view part;  // a part of the first line
  std::string_view name;  // empty: no finding
};
constexpr std::array<Kind, 14> kKinds{{{"Race reported between", "race"},
                                       {"hazard detected", "race"},
                                       {"Barrier error", "barrier"},
                                       {"Uninitialized ", "uninitialised"},
                                       {"Invalid __", "invalid_access"},
                                       {"COMPUTE-SANITIZER", ""},
                                       {"Program hit ", ""},
                                       {"LEAK SUMMARY", ""},
                                       {"Maximum number of hazards", ""},
                                       {"were not printed", ""},
                                       {"Target application returned an error", ""},
                                       {"Process didn't terminate successfully", ""},
                                       {"couldn't find exit code", ""},
                                       {"No attachable process", ""}}};
constexpr std::string_view kOther = "other";

std::string_view without_full_stop(std::string_view text) {
  return trim(text.substr(0, text.find_last_not_of(" \t\r.") + 1));
}

/// The part of `text` before the first `mark`; all of it if there is none.
std::string_view before(std::string_view text, std::string_view mark) {
  return text.substr(0, std::min(text.find(mark), text.size()));
}

/// The part of `text` after the first `mark`; nothing if there is none.
std::optional<std::string_view> after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  return at == std::string_view::npos ? std::nullopt : std::optional(text.substr(at + mark.size()));
}

/// The number that `text` begins with; 0 if there is none, or it is too great.
std::int64_t leading_number(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && number > 0 ? number : 0;
}

std::string_view without_severity(std::string_view header) {
  for (const std::string_view severity : {"Error: ", "Warning: ", "Info: ", "Fatal: "}) {
    if (header.starts_with(severity)) {
      return header.substr(severity.size());
    }
  }
  return header;
}

std::string_view kind_of(std::string_view header) {
  const auto* const found =
      std::ranges::find_if(kKinds, [&](const Kind& kind) { return contains(header, kind.part); });
  return found == kKinds.end() ? kOther : found->name;
}

/// The kernel of "kernel(args)+0xd0 in file.cu:12", or in older versions "0xd0 in
/// file.cu:12:kernel".
std::string_view kernel_of(std::string_view place) {
  if (place.starts_with("0x")) {
    const std::string_view named = after(place, " in ").value_or("");
    const std::size_t line_end = named.find(':');
    const bool has_line = line_end != std::string_view::npos && line_end + 1 < named.size() &&
                          named[line_end + 1] >= '0' && named[line_end + 1] <= '9';
    return has_line ? after(named.substr(line_end + 1), ":").value_or("") : named;
  }
  return place.substr(0, std::min(place.rfind("+0x"), place.size()));
}

void set_place(std::string_view place, SanitizerFinding& finding) {
  finding.place = place;
  finding.kernel = kernel_of(place);
}

/// Adds the other access of a race: "Read access at PLACE [16 hazards]".
void add_against(std::string_view text, SanitizerFinding& finding) {
  const std::int64_t hazards =
      std::min(leading_number(after(text, " [").value_or("")), kMostHazards);
  finding.count =
      (finding.against.empty() ? 0 : finding.count) + std::max<std::int64_t>(hazards, 1);
  finding.against.emplace_back(before(text, " ["));
}

SanitizerFinding start_finding(std::string_view kind, std::string_view header) {
  SanitizerFinding finding;
  finding.kind = kind;
  finding.what = header;
  finding.size_bytes = leading_number(after(header, " of size ").value_or(""));
  if (const auto space = after(header, " __")) {
    finding.space = before(*space, "__");
  }
  if (kind == "race") {
    finding.space = finding.space.empty() ? "shared" : finding.space;
    if (const auto place = after(header, " access at ")) {
      finding.what = before(header, " at ");
      set_place(*place, finding);
    }
  }
  return finding;
}

void add_detail(std::string_view text, SanitizerFinding& finding) {
  if (text.starts_with("at ") && finding.place.empty()) {
    set_place(text.substr(3), finding);
  } else if (text.starts_with("by thread ")) {
    finding.thread = before(text.substr(10), " in block ");
    finding.block = after(text, " in block ").value_or("");
  } else if (finding.kind == "race" && contains(text, " access at ")) {
    add_against(text.starts_with("and ") ? text.substr(4) : text, finding);
  } else if (finding.detail.size() + text.size() < kMostDetailBytes) {
    finding.detail += (finding.detail.empty() ? "" : " ") + std::string(text);
  }
}

bool alike(const SanitizerFinding& a, const SanitizerFinding& b) {
  return a.kind == b.kind && a.what == b.what && a.place == b.place && a.against == b.against;
}

void add_finding(const SanitizerFinding& finding, std::vector<SanitizerFinding>& findings) {
  const auto same =
      std::ranges::find_if(findings, [&](const auto& known) { return alike(known, finding); });
  if (same != findings.end()) {
    same->count += finding.count;
  } else if (findings.size() < kMostFindings) {
    findings.push_back(finding);
  }
}

class Reader {
 public:
  void read(std::string_view line) {
    if (!line.starts_with(kPrefix)) {
      return;
    }
    line.remove_prefix(kPrefix.size());
    const std::string_view text = without_full_stop(line);
    if (text.empty()) {
      close();
    } else if (line.starts_with("  ")) {
      detail(text);
    } else {
      close();
      header(text);
    }
  }

  SanitizerReport finish() {
    close();
    number_race_groups(report_.findings);
    return std::move(report_);
  }

 private:
  void header(std::string_view text) {
    if (contains(text, "SUMMARY: ")) {
      summary(text);
      return;
    }
    const std::string_view said = without_severity(text);
    const std::string_view kind = kind_of(said);
    const bool own_error = kind == kOther && said.size() != text.size();
    if (own_error || contains(text, "Internal Sanitizer Error")) {
      report_.problems.emplace_back(said);
    } else if (!kind.empty()) {
      open_ = start_finding(kind, said);
    }
  }

  void summary(std::string_view text) {
    if (report_.complete || contains(text, "LEAK SUMMARY")) {
      return;  // "ERROR SUMMARY: 20 errors were not printed" follows the first
    }
    report_.complete = true;
    const std::string_view counts = *after(text, "SUMMARY: ");
    const auto of_races = after(counts, "(");
    report_.errors = leading_number(of_races.value_or(counts));
    report_.warnings = of_races ? leading_number(after(*of_races, ", ").value_or("")) : 0;
  }

  void detail(std::string_view text) {
    in_backtrace_ |= text.starts_with("Saved host backtrace") || text.starts_with("Host Frame") ||
                     text.starts_with("Device Frame");
    if (open_ && !in_backtrace_) {
      add_detail(text, *open_);
    }
  }

  void close() {
    if (open_) {
      add_finding(*open_, report_.findings);
    }
    open_.reset();
    in_backtrace_ = false;
  }

  SanitizerReport report_;
  std::optional<SanitizerFinding> open_;
  bool in_backtrace_ = false;
};

}  // namespace

void number_race_groups(std::vector<SanitizerFinding>& findings) {
  const auto is_race = [](const SanitizerFinding& finding) { return finding.kind == "race"; };
  std::vector<Places> groups;
  for (const SanitizerFinding& finding : findings) {
    if (is_race(finding)) {
      add(places_of(finding), groups);
    }
  }
  for (SanitizerFinding& finding : findings) {
    const auto group = std::ranges::find_if(
        groups, [&](const Places& places) { return places.contains(name_of(finding)); });
    finding.group = is_race(finding) ? 1 + (group - groups.begin()) : 0;
  }
}

std::int64_t count_groups(const std::vector<SanitizerFinding>& findings) {
  return greatest_of<std::int64_t>(findings, &SanitizerFinding::group);
}

std::vector<std::string> sanitizer_words(const SanitizerCommand& command) {
  std::vector<std::string> words{command.program,
                                 "--tool",
                                 std::string(enum_name(command.tool)),
                                 "--log-file",
                                 escaped(command.log_folder) + "/%p.log",
                                 "--show-backtrace",
                                 "no"};
  // initcheck needs all kernels: it takes for unwritten what ignored kernels wrote, our inputs.
  if (command.tool != SanitizerTool::initcheck) {
    words.insert(
        words.end(),
        {"--kernel-name", "kns=" + fmt::format("{}", fmt::join(command.kernel_names, ",kns="))});
  }
  if (command.tool == SanitizerTool::memcheck) {
    words.insert(words.end(), {"--report-api-errors", "no"});
  }
  return words;
}

SanitizerReport parse_sanitizer_report(std::string_view text) {
  Reader reader;
  while (!text.empty()) {
    reader.read(take_until(text, '\n'));
  }
  return reader.finish();
}

void merge(const SanitizerReport& more, SanitizerReport& report) {
  for (const SanitizerFinding& finding : more.findings) {
    add_finding(finding, report.findings);
  }
  number_race_groups(report.findings);
  report.errors += more.errors;
  report.warnings += more.warnings;
  report.complete = report.complete && more.complete;
  append(report.problems, more.problems);
}

}  // namespace fatune
