#include "base/file_tree.hpp"
#include "base/version.hpp"
#include "cli/subcommands.hpp"
#include "cli/typed_words.hpp"
#include "gpu/compiler_processes.hpp"
#include "measure/gpu_worker.hpp"
#include "print/files.hpp"

namespace fatune {
namespace {

constexpr const char* kBash =
    R"(# Completes fatune's command line in bash; made by 'fatune completion bash'.
_fatune() {
  local IFS=$'\n' current=${COMP_WORDS[COMP_CWORD]} action= said
  mapfile -t said < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  local before=${said[0]} kinds=${said[1]} words=("${said[@]:2}")
  if [[ $current == = ]]; then current=; fi
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "${words[*]%%$'\t'*}" -- "${current#"$before"}")
  if [[ $kinds == *list* ]]; then compopt -o nospace 2>/dev/null; fi
  if [[ $kinds == *folders* ]]; then action=directory; fi
  if [[ $kinds == *files* ]]; then action=file; fi
  if [[ -n $action ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -A "$action" -- "$current")
  fi
}
complete -F _fatune fatune
)";

constexpr const char* kZsh = R"(#compdef fatune
# Completes fatune's command line in zsh; made by 'fatune completion zsh'.
_fatune() {
  local line word result=1
  local -a said described suffix
  said=("${(@f)$(${~${(Q)words[1]}} __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  compset -p ${#said[1]}
  for line in "${(@)said[3,-1]}"; do
    word=${line%%$'\t'*}
    described+=("${word//:/\\:}${${line#$word}/$'\t'/:}")
  done
  if [[ $said[2] == *list* ]]; then suffix=(-q -S ,); fi
  _describe -t words word described $suffix && result=0
  if [[ $said[2] == *files* ]]; then _files && result=0; fi
  if [[ $said[2] == *folders* ]]; then _files -/ && result=0; fi
  return result
}
if [[ $funcstack[1] == _fatune ]]; then
  _fatune "$@"
else
  compdef _fatune fatune
fi
)";

constexpr const char* kFish =
    R"(# Completes fatune's command line in fish; made by 'fatune completion fish'.
function __fatune_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l said ($program __complete $words "$current" 2>/dev/null)
    set -l rest (string replace -- "$said[1]" '' "$current")
    set -l paths
    if string match -q '*files*' -- $said[2]
        set paths (__fish_complete_path "$rest")
    else if string match -q '*folders*' -- $said[2]
        set paths (__fish_complete_directories "$rest" '')
    end
    for line in $said[3..-1] $paths
        echo "$said[1]$line"
    end
end
complete -c fatune -f -a '(__fatune_complete)'
)";

const std::map<std::string, const char*>& scripts() {
  static const std::map<std::string, const char*> all{
      {"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};
  return all;
}

/// The text of each manual page, by file name.
using ManualPages = std::map<std::string, std::string>;

/// Creates the folder and writes the pages into it. Throws Error(io).
ExitCode write_manual(const std::filesystem::path& folder, const ManualPages& pages) {
  for (const auto& [name, text] : pages) {
    write_output_file(folder / name, text);
  }
  return ExitCode::ok;
}

/// Returns the manual pages by file name, such as "fatune-sweep.1".
ManualPages write_pages(const CommandPage& program) {
  ManualPages pages;
  const ManualEdition edition{std::string(version()), std::string(version_date()),
                              FileTree().read("docs/reference.md")};
  for (const CommandPage* page : all_pages(program)) {
    pages[command_text(*page, "-") + ".1"] = manual_page(*page, program, edition);
  }
  return pages;
}

/// Serves the fatune that has started this process (docs/worker-protocol.md). Not for users.
ExitCode work_for_parent() {
  configure_logging(Verbosity::normal);
  run_gpu_worker();
  return ExitCode::ok;
}

/// Compiles for the fatune that has started this process. Not for users.
ExitCode compile_for_parent() {
  configure_logging(Verbosity::normal);
  run_compile_worker();
  return ExitCode::ok;
}

}  // namespace

void add_completion_command(const Subcommands& all) {
  CLI::App* sub =
      all.parent.add_subcommand("completion", "Print a script that completes fatune in a shell");
  auto name = std::make_shared<std::string>();
  sub->add_option("SHELL", *name, "bash, zsh or fish")
      ->type_name("bash|zsh|fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
  sub->callback([name, &chosen = all.chosen] {
    chosen = [script = scripts().at(*name)] {
      print_result(script);
      return ExitCode::ok;
    };
  });
  sub->footer(R"('cmake --install' puts the scripts where shells find them.
Examples:
  fatune completion fish > ~/.config/fish/completions/fatune.fish
  fatune completion zsh > ~/.zfunc/_fatune
  source <(fatune completion bash))");
}

void add_man_command(const Subcommands& all) {
  CLI::App* sub = all.parent.add_subcommand("man", "Write the manual pages into a folder");
  sub->group("");  // hidden from the help; the build uses it
  auto folder = std::make_shared<std::filesystem::path>();
  add_path_option(*sub, "DIR", "DIR", "the folder", *folder)->required();
  sub->callback([folder, &program = all.parent, &chosen = all.chosen] {
    chosen = [folder, pages = write_pages(read_pages(program))] {
      return write_manual(*folder, pages);
    };
  });
}

void add_worker_command(const Subcommands& all) {
  const auto add = [&](const char* role, const char* what, ExitCode (*work)()) {
    CLI::App* sub = all.parent.add_subcommand(role, what);
    sub->group("");  // left out of the help
    sub->callback([&chosen = all.chosen, work] { chosen = work; });
  };
  add("worker", "Measure for the fatune that started this process", work_for_parent);
  add("compile-worker", "Compile for the fatune that started this process", compile_for_parent);
}

}  // namespace fatune
