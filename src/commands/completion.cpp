#include <map>
#include <string>

#include "cli/subcommands.hpp"

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

}  // namespace fatune
