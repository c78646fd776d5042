#pragma once

#include <string>

#include "manual/command_page.hpp"

// Scripts that complete fatune's command line in a shell. They contain all words: no program is
// started while somebody types.
namespace fatune {

/// A script to source, or to put where bash-completion finds it. It needs bash 4.4 or newer.
[[nodiscard]] std::string bash_completion(const CommandPage& program);
/// A script to source, or to put as `_fatune` into a folder of $fpath.
[[nodiscard]] std::string zsh_completion(const CommandPage& program);
/// A script to source, or to put as `fatune.fish` into a folder of $fish_complete_path.
[[nodiscard]] std::string fish_completion(const CommandPage& program);

}  // namespace fatune
