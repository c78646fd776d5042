#include "commands/profile/profile.hpp"

#include <map>

#include <fmt/format.h>

#include "core/environment.hpp"
#include "emit/output_file.hpp"
#include "plan/config_text.hpp"

namespace fatune {
namespace {

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
