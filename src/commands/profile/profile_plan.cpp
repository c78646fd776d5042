#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "app/choice/kernel_choice.hpp"
#include "app/choice/plan_problems.hpp"
#include "app/study/study_inputs.hpp"
#include "commands/profile/profile.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/ranges.hpp"
#include "emit/files.hpp"
#include "plan/planner.hpp"
#include "plan/short_form.hpp"

namespace fatune {
namespace {

bool is_listed(const Problem& problem, const std::vector<ProfileProblem>& listed) {
  return is_among(problem, listed, &ProfileProblem::problem);
}

std::vector<ProfileCase> first_of(const ProblemReport& report, const FamilySet& families, int top) {
  std::vector<ProfileCase> cases;
  for (const Result& result : report.ranking) {
    const bool more = top == 0 || cases.size() < static_cast<std::size_t>(top);
    if (more && families.find(result.config.family) != nullptr &&
        std::holds_alternative<Measured>(result.outcome)) {
      cases.push_back({result.config, ranked_us(result.outcome)});
    }
  }
  return cases;
}

ProfilePlan plan_of_run(const ProfileOptions& options) {
  const RunReport run = stored_report(options.db_file, options.run);
  ProfilePlan plan{choose_families_of(run, options.kernels), {}, {}};
  for (const ProblemReport& report : run.problems) {
    std::vector<ProfileCase> cases = first_of(report, plan.kernels.families, options.top);
    if (!cases.empty() && is_asked_for(report.problem, options.problems) &&
        !is_listed(report.problem, plan.problems)) {
      plan.problems.push_back({report.problem, std::move(cases)});
    }
  }
  return plan;
}

ProfilePlan plan_of_options(const ProfileOptions& options) {
  ProfilePlan plan{choose_kernels(options.kernels, options.configs), {}, {}};
  const KernelSet& kernels = plan.kernels;
  const Family& family = kernels.family();
  const Plan configs =
      options.configs.empty()
          ? make_plan(family, choose_space(kernels, options.kernels), binding_of(options.problems))
          : Plan{parse_configs(kernels.families, options.configs, options.problems), {}};
  const std::vector<ProblemPlan> problems = plan_problems({{&family, configs}}, options.problems);
  say_left_out(options.problems, problems, options.output);
  for (const ProblemPlan& problem : problems) {
    ProfileProblem& added = plan.problems.emplace_back(ProfileProblem{problem.problem, {}});
    for (const Config& config : problem.configs) {
      added.cases.push_back({config, std::nullopt});
    }
  }
  return plan;
}

bool has_case(const ProfileProblem& problem, const Config& config) {
  return is_among(config, problem.cases, &ProfileCase::config);
}

void add_baseline(const std::string& text, ProfilePlan& plan) {
  plan.baseline = parse_configs(plan.kernels.families, {text}).front();
  const Family& family = plan.kernels.families.of(*plan.baseline);
  for (ProfileProblem& problem : plan.problems) {
    if (!has_case(problem, *plan.baseline) &&
        !check_valid(family, *plan.baseline, &problem.problem)) {
      problem.cases.push_back({*plan.baseline, std::nullopt});
    }
  }
  if (std::ranges::none_of(plan.problems, [&](const ProfileProblem& problem) {
        return has_case(problem, *plan.baseline);
      })) {
    fail_unplanned_baseline(family, *plan.baseline, "it is valid for none of the problems");
  }
}

namespace fs = std::filesystem;

std::string problem_words(const ProfileOptions& options, const Family& family,
                          const Problem& problem) {
  std::string words = fmt::format(
      "--family {} --seq {} --dhead {} --dtype {} --batch {} --heads {}", shell_word(family.name),
      problem.seq_len, problem.d_head, dtype_name(problem.dtype), problem.batch, problem.heads);
  words += problem.causal ? " --causal" : "";
  for (const ProblemDetail& detail : kProblemDetails) {
    if (is_unusual(detail, problem)) {
      words += fmt::format(" {} {}", detail.option, detail_text(detail, problem));
    }
  }
  for (const fs::path& dir : options.kernels.kernel_dirs) {
    words += " --kernel-dir " + shell_word(fs::absolute(dir).string());
  }
  return words;
}

/// Returns the problem's configurations as options of a command, by family.
std::map<std::string, std::string> config_options(const ProfilePlan& plan,
                                                  const ProfileProblem& problem) {
  std::map<std::string, std::string> options;
  for (const ProfileCase& one : problem.cases) {
    options[one.config.family] +=
        " \\\n  --config " +
        shell_word(short_form(plan.kernels.families.of(one.config), one.config));
  }
  return options;
}

std::string script(const std::string& purpose, const std::string& commands) {
  return fmt::format(R"(#!/usr/bin/env bash
# {}
# Reports go to the folder that the first argument names (default: profiles). On a cluster, run:
#   sbatch --gres=gpu:1 --time=00:15:00 <this script>
set -euo pipefail
fatune="${{FATUNE:-fatune}}"
out="${{1:-profiles}}"
{})",
                     purpose, commands);
}

fs::path write_script(const fs::path& file, const std::string& text) {
  write_output_file(file, text);
  fs::permissions(file, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add);
  return file;
}

std::string run_all(const std::vector<fs::path>& scripts) {
  std::string text =
      "#!/usr/bin/env bash\n# Runs every script beside it, one after another.\nset -euo pipefail\n"
      "here=\"$(cd -P -- \"$(dirname -- \"${BASH_SOURCE[0]}\")\" && pwd)\"\n";
  for (const fs::path& one : scripts) {
    text += fmt::format("\"$here\"/{} \"$@\"\n", one.filename().string());
  }
  return text;
}

}  // namespace

ProfilePlan plan_profile(const ProfileOptions& options) {
  ProfilePlan plan = options.with_run ? plan_of_run(options) : plan_of_options(options);
  if (plan.problems.empty()) {
    throw Error(ExitCode::usage, "there is nothing to profile", {},
                options.with_run ? "the run has no measured configuration for such a problem"
                                 : "the space has no configuration for these problems");
  }
  if (options.baseline) {
    add_baseline(*options.baseline, plan);
  }
  return plan;
}

std::vector<fs::path> write_profile_scripts(const ProfileOptions& options, const ProfilePlan& plan,
                                            const fs::path& folder) {
  const FamilySet& families = plan.kernels.families;
  std::vector<fs::path> scripts;
  for (const ProfileProblem& problem : plan.problems) {
    const std::string stem = file_name_part(problem.problem);
    for (std::size_t i = 0; i < problem.cases.size(); ++i) {
      const Family& family = families.of(problem.cases[i].config);
      const std::string config =
          " \\\n  --config " + shell_word(short_form(family, problem.cases[i].config));
      scripts.push_back(write_script(
          folder / fmt::format("ncu_{}_{}.sh", stem, i + 1),
          script("Profiles one configuration with Nsight Compute, all sections.",
                 fmt::format("\"$fatune\" profile {}{} \\\n  --metrics full --runs {} --out "
                             "\"$out\"/ncu_{}_{}\n",
                             problem_words(options, family, problem.problem), config, options.runs,
                             stem, i + 1))));
    }
    for (const auto& [name, configs] : config_options(plan, problem)) {
      const std::string which = families.several() ? name + "_" : std::string();
      const std::string words = problem_words(options, *families.find(name), problem.problem);
      scripts.push_back(write_script(
          folder / fmt::format("nsys_{}{}.sh", which, stem),
          script("Records a timeline of one problem's configurations with Nsight Systems.",
                 fmt::format("\"$fatune\" profile --nsys {}{} \\\n  --runs {} --out \"$out\"\n",
                             words, configs, options.runs))));
    }
  }
  scripts.push_back(write_script(folder / "all.sh", run_all(scripts)));
  return scripts;
}

}  // namespace fatune
