#pragma once

namespace fatune {

struct Subcommands;

/// Adds every command of the program to the parser, in the order of the help.
void add_commands(const Subcommands& all);

}  // namespace fatune
