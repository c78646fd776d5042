#pragma once

#include "app/options.hpp"
#include "core/exit_code.hpp"

// The subcommands. Each prints its result to standard output and everything else to standard error,
// and returns the process's exit code. An Error ends a command early.
namespace fatune {

/// Options become a plan, a plan becomes artifacts, artifacts become outcomes, outcomes become a
/// ranking, a ranking becomes bytes.
[[nodiscard]] ExitCode sweep(const SweepOptions& options);
/// Verifies and times configurations that the user names.
[[nodiscard]] ExitCode run(const RunOptions& options);
/// Whether the winners of a best_configs.json are still the fastest, on this machine.
[[nodiscard]] ExitCode verify_winner(const VerifyWinnerOptions& options);
/// Variants of a kernel, each tuned by itself, beside each other.
[[nodiscard]] ExitCode cases(const CasesOptions& options);
/// Whether configurations compute the right thing, on every kind of input; nothing is ranked.
[[nodiscard]] ExitCode check(const CheckOptions& options);
/// The first step of the algorithm at which a configuration's kernel leaves the tolerance.
[[nodiscard]] ExitCode debug(const DebugOptions& options);
/// Whether configurations are right and well synchronised, by running their PTX on the CPU.
[[nodiscard]] ExitCode emulate_kernels(const EmulateOptions& options);
/// The stored runs.
[[nodiscard]] ExitCode history(const HistoryOptions& options);
/// A stored run, printed as it was.
[[nodiscard]] ExitCode show(const ShowOptions& options);
[[nodiscard]] ExitCode list(const ListOptions& options);
[[nodiscard]] ExitCode list_presets(const ListOptions& options);
[[nodiscard]] ExitCode compile_offline(const CompileOptions& options);
/// Analyses a kernel's machine code.
[[nodiscard]] ExitCode sass(const SassOptions& options);
[[nodiscard]] ExitCode sass_diff(const SassOptions& options);
[[nodiscard]] ExitCode sass_graph(const SassOptions& options);
[[nodiscard]] ExitCode sass_clean(const SassOptions& options);
/// Which source lines became which PTX and which machine code.
[[nodiscard]] ExitCode sass_map(const SassMapOptions& options);
/// Shows the effect of parameters on the machine code, and its correlation with measured times.
[[nodiscard]] ExitCode sass_why(const SassWhyOptions& options);
/// Reads the hardware counters of configurations.
[[nodiscard]] ExitCode profile(const ProfileOptions& options);
[[nodiscard]] ExitCode devices(const DevicesOptions& options);
[[nodiscard]] ExitCode doctor(const DoctorOptions& options);

}  // namespace fatune
