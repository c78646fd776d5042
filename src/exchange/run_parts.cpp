#include "exchange/run_parts.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "rank/ranking.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

using Results = std::vector<Result> ProblemReport::*;
struct ResultList {
  const char* name;
  Results results;
};
constexpr std::array<ResultList, 3> kLists{ResultList{"ranking", &ProblemReport::ranking},
                                           {"failures", &ProblemReport::failures},
                                           {"audited", &ProblemReport::audited}};

/// A problem's report for each family that has results on it.
std::map<std::string, ProblemReport> by_family(const ProblemReport& problem) {
  std::map<std::string, ProblemReport> reports;
  const ProblemReport empty = without_results(problem);
  for (const ResultList& list : kLists) {
    for (const Result& result : problem.*list.results) {
      ProblemReport& report = reports.try_emplace(result.config.family, empty).first->second;
      (report.*list.results).push_back(result);
    }
  }
  return reports;
}

RunReport header_of(RunReport run) {
  run.problems.clear();
  run.choices.clear();
  return run;
}

const Result& any_result(const ProblemReport& report) {
  const auto* const list = std::ranges::find_if(
      kLists, [&](const ResultList& one) { return !(report.*one.results).empty(); });
  return (report.*list->results).front();
}

const ProblemReport& problem_of(const RunPart& part) { return part.run.problems.front(); }

RunReport read_run(const JsonNode& text) {
  try {
    return read_record<RunReport>(parse_record(text.text()));
  } catch (const Error& error) {
    text.fail(error.what_was_wrong() + (error.where().empty() ? "" : " (" + error.where() + ")"),
              "give the file as fatune wrote it");
  }
}

int read_count(const JsonNode& node) {
  const std::int64_t count = node.integer();
  if (count < 0 || count > std::numeric_limits<int>::max()) {
    node.fail(fmt::format("{} is out of range", count), "give the file as fatune wrote it");
  }
  return static_cast<int>(count);
}

/// Whether the part has one problem, with results of one family, and times for those it ranks.
bool is_part(const RunReport& run) {
  return run.problems.size() == 1 && by_family(run.problems.front()).size() == 1 &&
         std::ranges::all_of(run.problems.front().ranking,
                             [](const Result& result) { return is_ranked(result.outcome); });
}

bool are_of_one_run(const RunPart& a, const RunPart& b) {
  return a.run.complete == b.run.complete && a.problems == b.problems &&
         record_json(header_of(a.run)) == record_json(header_of(b.run));
}

[[noreturn]] void fail_twice(const RunPart& part) {
  throw Error(ExitCode::bad_file,
              fmt::format("the results of {} on {} appear twice", family_of(part),
                          describe(problem_of(part).problem)),
              {}, "name each file once");
}

double time_or_endless_us(const Result& result) {
  return is_ranked(result.outcome) ? ranked_us(result.outcome)
                                   : std::numeric_limits<double>::infinity();
}

/// The parts of one problem, by family.
using ProblemParts = std::map<std::string, RunPart>;

bool has_all_families(const ProblemParts& parts) {
  return static_cast<int>(parts.size()) == parts.begin()->second.families;
}

ProblemReport join_problem(const ProblemParts& parts) {
  ProblemReport joined = without_results(problem_of(parts.begin()->second));
  for (const auto& [family, part] : parts) {
    for (const ResultList& list : kLists) {
      const std::vector<Result>& results = problem_of(part).*list.results;
      (joined.*list.results).insert((joined.*list.results).end(), results.begin(), results.end());
    }
  }
  std::ranges::stable_sort(joined.ranking, {}, &Result::rank);
  std::ranges::stable_sort(joined.failures, {}, &Result::config);
  std::ranges::stable_sort(joined.audited, {}, time_or_endless_us);
  if (!has_all_families(parts)) {
    rank_results(joined.ranking, std::nullopt);
  }
  return joined;
}

RunReport join_run(const std::vector<RunPart>& parts) {
  std::map<int, ProblemParts> problems;
  for (const RunPart& part : parts) {
    if (!problems[part.number].try_emplace(family_of(part), part).second) {
      fail_twice(part);
    }
  }
  RunReport run = header_of(parts.front().run);
  run.complete = run.complete && static_cast<int>(problems.size()) == parts.front().problems;
  for (const auto& [number, of_problem] : problems) {
    run.complete = run.complete && has_all_families(of_problem);
    run.problems.push_back(join_problem(of_problem));
  }
  return run;
}

}  // namespace

const std::string& family_of(const RunPart& part) {
  return any_result(problem_of(part)).config.family;
}

std::vector<RunPart> parts_of(const RunReport& run) {
  std::vector<RunPart> parts;
  int problems = 0;
  for (const ProblemReport& problem : run.problems) {
    const auto reports = by_family(problem);
    for (const auto& [family, report] : reports) {
      parts.push_back({header_of(run), problems, 0, static_cast<int>(reports.size())});
      parts.back().run.problems.push_back(report);
    }
    problems += reports.empty() ? 0 : 1;
  }
  for (RunPart& part : parts) {
    part.problems = problems;
  }
  return parts;
}

std::vector<RunReport> join_parts(std::vector<RunPart> parts) {
  std::vector<RunReport> runs;
  while (!parts.empty()) {
    const auto others = std::stable_partition(
        parts.begin(), parts.end(),
        [first = parts.front()](const RunPart& part) { return are_of_one_run(first, part); });
    runs.push_back(join_run({parts.begin(), others}));
    parts.erase(parts.begin(), others);
  }
  return runs;
}

nlohmann::json part_records(const RunPart& part) {
  return {{"run", record_text(record_json(part.run))},
          {"number", part.number},
          {"problems", part.problems},
          {"families", part.families}};
}

RunPart read_part(const JsonNode& records) {
  RunPart part{read_run(records.at("run")), read_count(records.at("number")),
               read_count(records.at("problems")), read_count(records.at("families"))};
  if (!is_part(part.run)) {
    records.fail(
        "it must have results of one kernel family on one problem, and a time for each ranked "
        "result",
        "give the file as fatune wrote it");
  }
  return part;
}

}  // namespace fatune
