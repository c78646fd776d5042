#pragma once

#include <array>
#include <string_view>

#include "core/exit_code.hpp"

namespace fatune {

struct ExitCodeText {
  ExitCode code;
  std::string_view meaning;
};

/// All exit codes; docs/reference.md lists them too.
inline constexpr std::array kExitCodeTexts{
    ExitCodeText{ExitCode::ok, "success"},
    ExitCodeText{ExitCode::internal, "a bug in fatune"},
    ExitCodeText{ExitCode::usage,
                 "the command line, a configuration string or a space key cannot be understood"},
    ExitCodeText{ExitCode::bad_file, "a file cannot be read or violates its schema"},
    ExitCodeText{ExitCode::no_gpu, "a GPU is required and none is usable"},
    ExitCodeText{ExitCode::nothing_ranked, "no configuration survived; predict: none is eligible"},
    ExitCodeText{ExitCode::failed_outcomes,
                 "check, debug, emulate, and any command with --strict: a configuration was wrong, "
                 "crashed or did not compile"},
    ExitCodeText{ExitCode::io,
                 "an output file, or standard output, cannot be written; a sweep's shard is not "
                 "stored; a cache that cannot be written only warns"},
    ExitCodeText{ExitCode::too_large, "a problem does not fit the GPU"},
    ExitCodeText{ExitCode::gpu_failure, "the driver failed in a way that ends the command"},
    ExitCodeText{ExitCode::gpu_busy, "with --no-wait: another fatune measures on the GPU"},
    ExitCodeText{ExitCode::beaten,
                 "verify-winner: a winner is slower than another configuration, beyond doubt and "
                 "tolerance, or has failed"},
    ExitCodeText{ExitCode::worse,
                 "sweep --against, compare: something is slower than its rival, beyond doubt and "
                 "tolerance, or has failed"},
    ExitCodeText{
        ExitCode::undecided,
        "verify-winner: the measurements do not tell whether a winner still stands; compare: the "
        "runs are the same, or of different GPU models, or one is an estimate"},
    ExitCodeText{
        ExitCode::incomplete,
        "compare: the new run lacks problems of the old one, and nothing is worse; cluster "
        "missing: shards are not done"},
    ExitCodeText{ExitCode::interrupted,
                 "interrupted by Ctrl-C, SIGTERM or SIGHUP; finished results have been written"}};

}  // namespace fatune
