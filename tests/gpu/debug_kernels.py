#!/usr/bin/env python3
"""Debugs kernels on a GPU, or on the CPU with --emulate. Kernels of a space must be right at every step.
Kernels that this script breaks must be wrong at the step, in the tensor and at the row of the break.

Needs only Python: debug_kernels.py --fatune build/ci/bin/fatune --kernels kernels
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile

from sweep_tools import broken_copy, print_table, skip_without_gpu

RIGHT = 0
WRONG = 6

INPUTS = [
    ["--init", "random"],
    ["--init", "large_logits", "--causal"],
    ["--init", "range", "--seq", "300"],
    ["--init", "random", "--seq", "333", "--causal"],
]
MORE_INPUTS = [["--init", kind] for kind in ("onehot", "identity", "constant")]

PLAIN = "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles"
LAZY = PLAIN + "+opt_softmax"

# (name, configuration, arguments, file, text to replace, replacement, the first value that must be wrong)
RESCALE = "rescale_row<S>(rO, state, m, h, factor);"
BREAKS = [
    ("mask", PLAIN, ["--causal"], "mask.cuh", "min(row + 1, seq_len)", "min(row + 2, seq_len)",
     {"tensor": "S", "step": 0, "q_block": 0, "row": 0, "column": 1, "cause": "the mask"}),
    ("rescale", PLAIN, ["--init", "range"], "softmax.cuh", RESCALE, "",
     {"tensor": "L", "step": 1, "row": 0, "cause": "the rescaling of L"}),
    ("lazy rescale", LAZY, ["--init", "range"], "softmax.cuh", RESCALE, "",
     {"tensor": "L", "step": 1, "row": 0, "cause": "the rescaling of L"}),
    ("rescale of O", PLAIN, ["--init", "range"], "softmax.cuh", RESCALE,
     "state.sum[m][h] *= factor;",
     {"tensor": "O", "step": 1, "row": 0, "cause": "would have without rescaling"}),
    ("maximum", PLAIN, [], "softmax.cuh", "quad_max(lane_max<S>(rS, m, h))",
     "lane_max<S>(rS, m, h)", {"tensor": "M", "step": 0, "cause": "the maximum of a row"}),
    ("panels of V", LAZY, [], "mma_tiles.cuh", "v.at(16 * (index * kSteps + step), n)",
     "v.at(16 * ((index * kSteps + step) ^ 1), n)",
     {"tensor": "O", "step": 0, "cause": "the product P V"}),
    ("keys", LAZY, [], "mma_tiles.cuh", "k.at(16 * n, index * kSteps + step)",
     "k.at(16 * (n ^ 1), index * kSteps + step)",
     {"tensor": "S", "step": 0, "cause": "the product Q K^T"}),
    ("division", PLAIN, [], "softmax.cuh", "__frcp_rn(total)", "1.0f",
     {"tensor": "output", "step": None, "cause": "every step is right"}),
]


def debug(options, config, arguments):
    """Returns the report and the exit code."""
    where = ["--device", "none"] if options.emulate else ["--require-gpu"]
    command = [options.fatune, "debug", *where, "--quiet", "--format", "json", "--config",
               config] + arguments
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (RIGHT, WRONG):
        sys.exit(f"'{' '.join(command)}' ended with {done.returncode}: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    if report["emulated"] != options.emulate:
        sys.exit(f"'{' '.join(command)}' was not run where it should be: {report['why_not_emulated']}")
    return report, done.returncode


def place_of(report):
    first = report["first_wrong"]
    if first is None:
        return report["verdict"]
    return (f"{first['tensor']} of block {first['q_block']} at step {first['step']}, row "
            f"{first['row']}, column {first['column']}: {first['kernel']}, not {first['float64']}, "
            f"error {first['max_error']}, limit {first['limit']}")


def configs_of(options, space, every):
    """Returns every n-th configuration of a space."""
    command = [options.fatune, "list", "--space", space, "--format", "json"]
    listed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return [entry["config"] for entry in listed["kept"]][::every]


def greatest_share(report):
    """Returns the largest error as a percentage of its limit."""
    shares = [check["max_error"] / check["limit"] for check in report["checks"]
              if check["max_error"] is not None and check["limit"] > 0]
    return 100 * max(shares)


def check_right(options):
    wrong = []
    closest = 0.0
    configs = [] if options.few else (configs_of(options, "prog", 1) +
                                      configs_of(options, "tune", options.every))
    inputs = [(config, arguments) for config in configs for arguments in INPUTS]
    more = INPUTS[1:] + MORE_INPUTS[:1] if options.few else MORE_INPUTS
    inputs += [(config, arguments) for config in (PLAIN, LAZY) for arguments in more]
    for config, arguments in inputs:
        report, code = debug(options, config, arguments)
        if code != RIGHT:
            wrong.append(f"{config} {' '.join(arguments)}: {place_of(report)}")
        else:
            closest = max(closest, greatest_share(report))
    print(f"{len(inputs)} runs of {len({config for config, _ in inputs})} configurations: {len(wrong)} wrong; "
          f"the right ones came up to {closest:.0f} % of a limit")
    return wrong


def finding(report, expected):
    first = report["first_wrong"]
    if first is None:
        return f"nothing found: {report['verdict']}"
    for name, value in expected.items():
        said = report["likely_cause"] if name == "cause" else first[name]
        if (value not in said) if name == "cause" else (said != value):
            return f"{name} is {said}, must be {value}"
    return "ok"


def check_broken(options):
    rows = [["break", "finding", "first wrong"]]
    with tempfile.TemporaryDirectory() as folder:
        for name, config, arguments, file, old, new, expected in BREAKS:
            family = broken_copy(options.kernels, "flash_sm80", folder, file, old, new)
            report, _ = debug(options, config, arguments + ["--kernel-dir", family])
            rows.append([name, finding(report, expected), place_of(report)])
    print_table(rows)
    return [f"{row[0]}: {row[1]}" for row in rows[1:] if row[1] != "ok"]


def check_barrier(options):
    """Shows a missing barrier without judging it: its effect depends on luck. The emulator finds the race."""
    with tempfile.TemporaryDirectory() as folder:
        family = broken_copy(options.kernels, "flash_sm80", folder, "flash_forward.cu",
                             "cp_async_wait_all();\n    }\n    __syncthreads();",
                             "cp_async_wait_all();\n    }")
        report, _ = debug(options, LAZY, ["--kernel-dir", family])
    print("missing barrier, which is not deterministic:", place_of(report))
    if options.emulate and not report["first_finding"].startswith("race: "):
        return [f"missing barrier: the emulator finds no race, but '{report['first_finding']}'"]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fatune", required=True, help="the program")
    parser.add_argument("--kernels", required=True, help="the folder of the kernel families")
    parser.add_argument("--every", type=int, default=20, help="take every N-th of the space tune")
    parser.add_argument("--few", action="store_true", help="right ones: two configurations alone")
    parser.add_argument("--emulate", action="store_true", help="on the CPU: no GPU is needed, or used")
    options = parser.parse_args()
    if not options.emulate:
        skip_without_gpu(options.fatune)
    wrong = check_right(options) + check_broken(options) + check_barrier(options)
    for line in wrong:
        print("WRONG:", re.sub(r"\s+", " ", line))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
