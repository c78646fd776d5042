#pragma once

#include <array>
#include <string_view>

#include "core/error.hpp"

namespace fatune {

struct EnvironmentText {
  std::string_view names;  ///< one, or several separated by commas
  std::string_view meaning;
};

/// The environment variables, also listed in docs/reference.md.
inline constexpr std::array kEnvironmentTexts{
    EnvironmentText{"KERNELS", "the search space when there is no --space"},
    EnvironmentText{"FATUNE_CONFIG_FILE", "the file of --config-file when that is not given"},
    EnvironmentText{
        "XDG_CACHE_HOME",
        "compiled kernels, and verdicts of emulation, are cached in its folder fatune (else "
        "~/.cache/fatune)"},
    EnvironmentText{"FATUNE_CACHE_MIB", "the maximum size of the cache (default 1024)"},
    EnvironmentText{"FATUNE_NETWORK_DB",
                    "if it is set, measurements are stored on a network file system too "
                    "(docs/fleets.md)"},
    EnvironmentText{"SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT, SLURM_ARRAY_TASK_MIN, "
                    "SLURM_ARRAY_TASK_MAX",
                    "the shard, with --shard auto"},
    EnvironmentText{"XDG_DATA_HOME",
                    "measurements are stored in its folder fatune (else ~/.local/share/fatune)"},
    EnvironmentText{"FATUNE_WATCHDOG_S",
                    "the minimum time in seconds after which a kernel counts as hung (default 5)"},
    EnvironmentText{"FATUNE_NCU, FATUNE_NSYS", "paths of ncu and nsys, for fatune profile"},
    EnvironmentText{"FATUNE_NVDISASM, FATUNE_CUOBJDUMP",
                    "paths of nvdisasm and cuobjdump, for fatune sass"},
    EnvironmentText{"FATUNE_GIT, FATUNE_TAR",
                    "paths of git and tar, for fatune sweep --against-source REV"},
    EnvironmentText{"FATUNE_SBATCH", "path of Slurm's sbatch, for fatune cluster"},
    EnvironmentText{"FATUNE_DOT", "path of Graphviz' dot, for fatune sass cfg --format svg"},
    EnvironmentText{"FATUNE_COMPUTE_SANITIZER",
                    "path of compute-sanitizer, for fatune check --sanitizer"},
    EnvironmentText{"FATUNE_CUPTI", "path of CUPTI's library, for in-process hardware counters"},
    EnvironmentText{"FATUNE_LIBCUDA, FATUNE_LIBNVML, FATUNE_WORKER",
                    "for tests: paths of the driver's library, of NVML's library, and of the "
                    "program that measures"},
    EnvironmentText{"FATUNE_LOCK_DIR",
                    "where the files are that keep two processes from measuring on one GPU at a "
                    "time (default /tmp); all processes on a machine need the same"},
    EnvironmentText{"TMPDIR", "temporary files of nvdisasm, profilers and the like (else /tmp)"},
    EnvironmentText{"NO_COLOR, TERM", "no colours if the first is set, or the second is dumb"},
    EnvironmentText{"CLICOLOR_FORCE, CLICOLOR",
                    "the first, unless 0: colours even without a terminal; the second, if 0: no "
                    "colours. NO_COLOR overrides both, and --color overrides all"},
    EnvironmentText{"HOME, PATH, VIRTUAL_ENV",
                    "~ in this table; where NVIDIA's tools are looked for"},
    EnvironmentText{"COLUMNS",
                    "the width of a terminal that does not report its own (docs/tables.md)"},
    EnvironmentText{"CUDA_VISIBLE_DEVICES", "read by the driver: which GPUs there are"},
    EnvironmentText{
        "CUDA_HOME, CUDA_PATH",
        "which toolkit provides NVRTC and CUDA's headers, when building and when running"},
    EnvironmentText{"FATUNE_NVRTC",
                    "path of NVRTC's library (libnvrtc.so), instead of those in "
                    "docs/packages.md#nvrtc"},
    EnvironmentText{"FATUNE_PRESET", "what scripts/test builds (default ci)"}};

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
