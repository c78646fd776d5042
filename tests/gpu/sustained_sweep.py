"""Sweeps a problem of long launches with a sustained final, and checks its order. Says so if the GPU was not at its power
cap."""

import argparse
import sys

import sweep_tools


def findings(problem):
    """Returns what is wrong with the ranking of a problem."""
    finalists = [entry for entry in problem["ranking"] if entry["sustained_us"] is not None]
    times_us = [entry["sustained_us"] for entry in finalists]
    if problem["measuring"]["not_sustained_because"]:
        return ["there are sustained times without a final"] if finalists else []
    return [wrong for wrong, is_wrong in (
        ("fewer than two finalists", len(finalists) < 2),
        ("the finalists are not the first", problem["ranking"][:len(finalists)] != finalists),
        ("they are not in the order of their sustained times", times_us != sorted(times_us)),
        ("a clock is missing", any(entry["sustained_sm_mhz"] is None for entry in finalists)),
        ("a sustained time is far from that of the race",
         any(not 0.8 < entry["sustained_us"] / entry["time_us"] < 1.25 for entry in finalists)),
    ) if is_wrong]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fatune", required=True, help="the program")
    parser.add_argument("--sustain", default="0.5", metavar="SECONDS", help="of each turn (default: 0.5)")
    options = parser.parse_args()
    sweep_tools.skip_without_gpu(options.fatune)
    report, seconds = sweep_tools.Sweep(
        options.fatune, ["--seq", "8192", "--dhead", "128", "--dtype", "bf16", "--no-db", "--sustain",
                         options.sustain]).result()
    problem = report["problems"][0]
    sweep_tools.print_table([("config", "time_us", "sustained_us", "sustained_sm_mhz")] + [
        (entry["config"], entry["time_us"], entry["sustained_us"], entry["sustained_sm_mhz"])
        for entry in problem["ranking"]])
    print(f"{seconds:.1f} s; no final because:", problem["measuring"]["not_sustained_because"])
    sys.exit("; ".join(findings(problem)) or None)


if __name__ == "__main__":
    main()
