#include <array>

#include "cli/read_pages.hpp"
#include "cli/subcommands.hpp"
#include "manual/completion.hpp"

namespace fatune {
namespace {

struct Shell {
  const char* name;
  std::string (*script)(const CommandPage& program);
};
constexpr std::array kShells{Shell{"bash", bash_completion}, Shell{"zsh", zsh_completion},
                             Shell{"fish", fish_completion}};

std::string script_for(const std::string& name, const CommandPage& program) {
  for (const Shell& shell : kShells) {
    if (name == shell.name) {
      return shell.script(program);
    }
  }
  return {};
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
  sub->callback([name, &program = all.parent, &chosen = all.chosen] {
    chosen = [text = script_for(*name, read_pages(program))] {
      print_result(text);
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
