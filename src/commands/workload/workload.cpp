#include <fmt/format.h>

#include "base/file_tree.hpp"
#include "base/ranges.hpp"
#include "cli/subcommands.hpp"
#include "engine/choice/plan_problems.hpp"
#include "model/workload.hpp"
#include "print/console.hpp"
#include "print/workload_report.hpp"

namespace fatune {
namespace {

struct WorkloadFiles {
  std::vector<std::filesystem::path> files;
  OutputOptions output;
};

ExitCode show_workloads(const WorkloadFiles& options) {
  const auto workloads =
      mapped(options.files, [](const std::filesystem::path& file) { return read_workload(file); });
  print_document(workload_document(merged(workloads)), options.output);
  return ExitCode::ok;
}

/// What a server does with a model: prompts, and then one token after the other.
struct ServedModel {
  ProblemOptions problems;
  std::vector<std::int64_t> batches{1};
  std::int64_t steps = 0;
  OutputOptions output;
};

/// The decoding steps behind a prompt, whose keys grow with each token. Each problem has the mean
/// keys of its share of the steps; within one, keys grow by about a quarter of the prompt at most.
void add_steps(const Problem& prompt, std::int64_t steps, Workload& workload) {
  constexpr std::int64_t kMostProblems = 16;
  const std::int64_t parts =
      steps == 0 ? 0 : std::clamp<std::int64_t>(4 * steps / prompt.seq_len_kv, 1, kMostProblems);
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t first = steps * part / parts;
    const std::int64_t end = steps * (part + 1) / parts;
    const Problem step = changed(prompt, [&](Problem& problem) {
      problem.seq_len = 1;
      problem.causal = false;
    });
    workload.push_back({step, static_cast<double>(end - first)});
    workload.back().problem.seq_len_kv = prompt.seq_len_kv + (first + end + 1) / 2;
  }
}

ExitCode make_workload(const ServedModel& options) {
  if (options.problems.seq_lens.empty()) {
    throw Error(ExitCode::usage, "no length of a prompt is given", "--seq",
                "e.g. --preset llama-3.1-8b --seq 512,4096 --batches 1,8 --steps 256");
  }
  Workload workload;
  for (const std::int64_t batch : options.batches) {
    ProblemOptions problems = options.problems;
    problems.batch = batch;
    for (const Problem& prompt : named_problems(problems)) {
      workload.push_back({prompt});
      add_steps(prompt, options.steps, workload);
    }
  }
  for (const WorkloadCall& call : workload) {
    check_problem(call.problem);
  }
  print_document(workload_document(merged({workload})), options.output);
  return ExitCode::ok;
}

/// A Python module, which the packages of `fatune export --to torch` have too.
ExitCode print_recorder() {
  print_result(FileTree().read("src/runtime/torch/fatune_attention/_record.py"));
  return ExitCode::ok;
}

}  // namespace

void add_workload_command(const Subcommands& all) {
  CLI::App* const app =
      all.parent.add_subcommand("workload", "What a program calls, and how often: for 'sweep'");
  app->require_subcommand(1);
  const Subcommands inner = within(all, *app);
  const auto [show, shown] =
      add_subcommand(inner, "show", "Print a workload, or several as one", show_workloads);
  add_paths(show, "FILE", "FILE", "workloads: JSON Lines, or comma-separated values (*.csv)",
            shown.files)
      ->required();
  add_output_options(show, shown.output);
  show.footer("Examples:\n  fatune workload show chat.jsonl recorded.csv");
  const auto [made, model] =
      add_subcommand(inner, "from-preset",
                     "Make a workload of a model's prompts and decoding steps", make_workload);
  add_problem_options(made, model.problems, "none");
  {
    const OptionScope scope(made, option_group::kProblem);
    add_text_option(made, "--batches", "LIST", "sequences per launch (default: 1)",
                    [&model = model](const std::string& text) {
                      model.batches = parse_integer_list(text, "--batches", 1, kMostSeqLen);
                    });
    add_integer(made, "--steps", "tokens that are decoded after each prompt (default: 0)", 0,
                kMostSeqLen, model.steps);
  }
  add_output_options(made, model.output);
  made.footer(
      "Examples:\n  fatune workload from-preset --preset gemma-2-9b --seq 4096 --steps 256");
  CLI::App* const recorder =
      app->add_subcommand("recorder", "Print a Python module that records what a program calls");
  recorder->callback([&chosen = all.chosen] { chosen = print_recorder; });
  recorder->footer(
      R"(It needs nothing but PyTorch (docs/workload.md).

Examples:
  fatune workload recorder > fatune_record.py
  python3 fatune_record.py --out chat.jsonl server.py --its options)");
  app->footer(
      R"(A workload is a file with a line for each problem: the problem, its calls, and the time of one
(docs/workload.md). With --format jsonl or csv, 'show' and 'from-preset' print such files.

Examples:
  fatune workload from-preset --preset llama-3.1-8b --seq 512,4096 \
    --batches 1,8 --steps 256 --format jsonl > chat.jsonl
  fatune workload show chat.jsonl recorded.csv
  fatune sweep --workload chat.jsonl --budget 60)");
}

}  // namespace fatune
