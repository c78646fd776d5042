#include "model/workload.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/file_tree.hpp"
#include "base/json_file.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "model/record_json.hpp"

namespace fatune {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{256} << 20;
constexpr const char* kCalls = "calls";
constexpr const char* kTimeUs = "time_us";
constexpr const char* kTimePercent = "time_percent";

/// The time of all calls of a workload whose lines have shares of time in place of calls.
constexpr double kSharedUs = 1e6;

/// A problem's member of this name; null: it has none.
const RecordMember* problem_member(const std::string& name) {
  static const std::vector<RecordMember> members = record_members<Problem>();
  return find_in(members, name, [](const RecordMember& member) { return member.info.name; });
}

/// Whether a line may have a member of this name.
bool is_known(const std::string& name) {
  constexpr std::array kOthers{kCalls, kTimeUs, kTimePercent};
  return is_among(name, kOthers) || problem_member(name) != nullptr;
}

/// The number of that name; absent: there is none.
std::optional<double> positive_number(const JsonNode& line, const char* name) {
  const auto found = line.find(name);
  if (!found || found->raw().is_null()) {
    return std::nullopt;
  }
  if (!(found->number() > 0.0)) {
    found->fail("it must be greater than 0");
  }
  return found->number();
}

WorkloadCall read_call(const JsonNode& line) {
  for (const auto& [name, value] : line.members()) {
    if (!is_known(name)) {
      value.fail("a call has no such member",
                 "it has the problem's, calls, time_us and time_percent (docs/workload.md)");
    }
  }
  WorkloadCall call{read_problem(line)};
  check_problem(call.problem);
  call.time_us = positive_number(line, kTimeUs);
  if (const auto calls = positive_number(line, kCalls)) {
    call.calls = *calls;
    return call;
  }
  const auto percent = positive_number(line, kTimePercent);
  if (!percent || !call.time_us) {
    line.fail("it says neither how often the problem is called nor its share of the time",
              "give calls, or time_percent and time_us, the time of one call");
  }
  call.calls = *percent / 100.0 * kSharedUs / *call.time_us;
  return call;
}

WorkloadCall read_line(const nlohmann::json& line, const std::string& place) {
  const JsonNode node(line, place);
  try {
    return read_call(node);
  } catch (const Error& error) {
    if (error.code() == ExitCode::bad_file) {
      throw;
    }
    node.fail(error.what());  // there is no such problem
  }
}

std::string place_of(const std::filesystem::path& file, std::size_t line) {
  return fmt::format("{}, line {}", file.string(), line);
}

Workload read_json_lines(const std::filesystem::path& file, const std::string& text) {
  Workload workload;
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      const std::string place = place_of(file, number);
      const nlohmann::json value = parse_json(line, place);
      workload.push_back(read_line(value, place));
    }
  }
  return workload;
}

/// A cell as the JSON value that it would be in a line: a flag, a number or a text.
nlohmann::json json_of_cell(const std::string& column, const std::string& cell) {
  const RecordMember* const member = problem_member(column);
  if (member != nullptr && member->type == RecordMember::Type::text) {
    return cell;
  }
  if (cell == "true" || cell == "false") {
    return cell == "true";
  }
  if (const auto integer = whole_number<std::int64_t>(cell)) {
    return *integer;
  }
  const auto number = whole_number<double>(cell);
  return number ? nlohmann::json(*number) : nlohmann::json(cell);
}

Workload read_rows(const std::filesystem::path& file, const std::string& text) {
  const std::vector<CsvRow> rows = read_csv(text, file.string());
  Workload workload;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::string place = fmt::format("{}, row {}", file.string(), i + 1);
    if (rows[i].size() != rows.front().size()) {
      throw Error(ExitCode::bad_file,
                  fmt::format("{} cells under {} headings", rows[i].size(), rows.front().size()),
                  place);
    }
    nlohmann::json line = nlohmann::json::object();
    for (std::size_t column = 0; column < rows[i].size(); ++column) {
      if (!rows[i][column].empty()) {
        const std::string& name = rows.front()[column];
        line[name] = json_of_cell(name, rows[i][column]);
      }
    }
    workload.push_back(read_line(line, place));
  }
  return workload;
}

/// Adds up calls of the same problem.
class Merging {
 public:
  void add(const WorkloadCall& call) {
    const auto same = std::ranges::find(merged_, call.problem, &WorkloadCall::problem);
    const auto at = static_cast<std::size_t>(same - merged_.begin());
    if (same == merged_.end()) {
      merged_.push_back(WorkloadCall{call.problem, 0.0});
      timed_calls_.push_back(0.0);
    }
    WorkloadCall& sum = merged_[at];
    sum.calls += call.calls;
    if (call.time_us) {
      const double timed_us = sum.time_us.value_or(0.0) * timed_calls_[at];
      timed_calls_[at] += call.calls;
      sum.time_us = (timed_us + *call.time_us * call.calls) / timed_calls_[at];
    }
  }

  const Workload& merged() const { return merged_; }

 private:
  Workload merged_;
  std::vector<double> timed_calls_;  ///< how many of each entry's calls have a time
};

}  // namespace

Workload read_workload(const std::filesystem::path& file) {
  const std::string text = read_disk_file(file, kMostFileBytes);
  const Workload lines =
      file.extension() == ".csv" ? read_rows(file, text) : read_json_lines(file, text);
  if (lines.empty()) {
    throw Error(ExitCode::bad_file, "there is no call in it", file.string(),
                "each line is a problem with its calls, as 'fatune workload from-preset' prints "
                "them with --format jsonl");
  }
  return merged({lines});
}

Workload merged(const std::vector<Workload>& workloads) {
  Merging all;
  for (const Workload& workload : workloads) {
    for (const WorkloadCall& call : workload) {
      all.add(call);
    }
  }
  return all.merged();
}

std::optional<double> total_us(const WorkloadCall& call) {
  return call.time_us ? std::optional(call.calls * *call.time_us) : std::nullopt;
}

}  // namespace fatune
