#pragma once

namespace fatune {

struct Subcommands;

/// Adds every command of the program to the parser, in the order of the help.
void add_commands(const Subcommands& all);

/// One of them, which checks the options of a fleet of sweeps too.
void add_sweep_command(const Subcommands& all);

}  // namespace fatune
