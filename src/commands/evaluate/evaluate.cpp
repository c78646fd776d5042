#include <unistd.h>

#include <fmt/format.h>

#include "cli/subcommands.hpp"
#include "commands/evaluate/lines.hpp"
#include "engine/choice/plan_problems.hpp"
#include "engine/interrupt.hpp"
#include "engine/session.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "race/candidate_source.hpp"

namespace fatune {
namespace {

using std::chrono::milliseconds;

class EvaluationSource : public CandidateSource {
 public:
  EvaluationSource(const Family& family, const Problem& problem, LineInput& input)
      : family_(family), problem_(problem), input_(input) {
    print_result(ready_line(family_, problem_));
  }

  /// Waits for a line only if there is nothing else to do.
  [[nodiscard]] std::vector<Proposal> propose(std::size_t most) override {
    std::vector<Proposal> proposals;
    while (proposals.size() < most) {
      const bool idle = settled_ && proposals.empty() && unknown_.empty();
      const std::optional<std::string> line = next_line(idle);
      if (!line) {
        break;
      }
      if (auto config = take(*line)) {
        proposals.push_back({*std::move(config), {}, "evaluate"});
      }
    }
    settled_ = settled_ && proposals.empty();
    return proposals;
  }
  /// Proposes nothing: a run cannot be resumed, because the program that made proposals is gone.
  [[nodiscard]] std::vector<Proposal> propose_again(
      const std::vector<Config>& /*configs*/) override {
    return {};
  }
  void observe(const Config& config, const Outcome& outcome) override {
    unknown_.erase(config);
    outcomes_.insert_or_assign(config, outcome);
    if (!is_ranked(outcome)) {
      answer(config);
    }
  }
  void settle() override {
    settled_ = true;
    for (const auto& [config, outcome] : outcomes_) {
      answer(config);
    }
  }
  [[nodiscard]] bool finished() const override { return input_.ended(); }
  [[nodiscard]] bool learns() const override { return true; }

 private:
  std::optional<std::string> next_line(bool wait) {
    constexpr milliseconds kPatience{50};  // short enough to notice Ctrl-C
    for (;;) {
      std::optional<std::string> line = input_.next(wait ? kPatience : milliseconds{0});
      if (line || !wait || input_.ended() || InterruptWatch::interrupted()) {
        return line;
      }
    }
  }

  /// Returns the configuration to try, or nothing if the line is blank or can be answered at once.
  std::optional<Config> take(const std::string& line) {
    ++line_number_;
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      return std::nullopt;
    }
    try {
      ProposalLine proposal = read_proposal(family_, problem_, line);
      return ask_for(std::move(proposal));
    } catch (const Error& error) {
      print_result(
          refusal_line(line_number_, proposal_id(line), error.what_was_wrong(), error.remedy()));
      return std::nullopt;
    }
  }

  std::optional<Config> ask_for(ProposalLine proposal) {
    Config& config = proposal.config;
    waiting_[config].push_back(std::move(proposal.id));
    if (outcomes_.contains(config)) {
      answer(config);
      return std::nullopt;
    }
    if (auto invalid = check_valid(family_, config, &problem_)) {
      observe(config, *std::move(invalid));
      return std::nullopt;
    }
    return unknown_.insert(config).second ? std::optional(std::move(config)) : std::nullopt;
  }

  /// Answers all proposals that wait for the configuration.
  void answer(const Config& config) {
    const auto waiting = waiting_.extract(config);
    if (waiting.empty()) {
      return;
    }
    for (const std::string& id : waiting.mapped()) {
      print_result(answer_line(id, short_form(family_, config), outcomes_.at(config)));
    }
  }

  const Family& family_;
  const Problem& problem_;
  LineInput& input_;
  std::int64_t line_number_ = 0;
  bool settled_ = false;      ///< the race had nothing left to do, and nothing was proposed since
  std::set<Config> unknown_;  ///< proposed, without an outcome so far
  std::map<Config, Outcome> outcomes_;                  ///< the known ones
  std::map<Config, std::vector<std::string>> waiting_;  ///< ids, as JSON, of its proposals
};

/// Tries the configurations that another program proposes in lines of JSON (docs/evaluate.md).
/// Answers each with a line when it has failed, or when its time is as well known as it will be
/// until more is proposed. Bad lines are answered too, and do not end the search.
class EvaluationSearch : public CandidateSearch {
 public:
  /// All references must outlive it. Only one source may exist at a time, because it takes the
  /// lines.
  EvaluationSearch(const Family& family, const Problem& problem, LineInput& input)
      : family_(family), problem_(problem), input_(input) {}

  [[nodiscard]] std::string name() const override { return "evaluate"; }
  [[nodiscard]] std::unique_ptr<CandidateSource> begin(SearchSpace /*space*/) const override {
    return std::make_unique<EvaluationSource>(family_, problem_, input_);
  }
  [[nodiscard]] std::size_t most_tried(std::size_t configs) const override { return configs; }

 private:
  const Family& family_;
  const Problem& problem_;
  LineInput& input_;
};

Problem only_problem(const ProblemOptions& options) {
  const std::vector<Problem> problems = named_problems(options);
  if (problems.size() != 1) {
    throw Error(ExitCode::usage,
                fmt::format("evaluate takes one problem, and these are {}", problems.size()),
                "--seq, --dhead, --dtype", "run it once for each");
  }
  return problems.front();
}

/// Times configurations of one family on one problem that another program proposes on standard
/// input, and answers on standard output (docs/evaluate.md). Throws Error(usage) for several
/// problems. Otherwise as carry_out().
ExitCode evaluate(const MeasureOptions& options) {
  ProblemPlan plan;
  plan.problem = only_problem(options.problems);
  LineInput input(STDIN_FILENO);
  PlannedRun run{choose_kernels(options.kernels), {}, {plan}, std::nullopt};
  run.search = std::make_shared<EvaluationSearch>(run.kernels.family(), plan.problem, input);
  MeasureOptions lines = options;
  lines.output.format = OutputFormat::json_lines;
  lines.store.fresh = true;
  return carry_out(lines, run);
}

}  // namespace

void add_evaluate_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "evaluate", "Verify and time configurations that another program proposes", evaluate);
  add_measure_options(sub, options, SpaceOption::no, Strategy::race);
  sub.footer(
      R"(It reads proposals from standard input and writes answers to standard output, as lines of JSON:
  {"id": 1, "config": "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles"}

Examples:
  fatune evaluate --family flash_sm80 --seq 4096 --dhead 128 \
    < proposals.jsonl > answers.jsonl)");
}

}  // namespace fatune
