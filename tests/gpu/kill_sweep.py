#!/usr/bin/env python3
"""Sweeps on a GPU while fatune and then its worker are killed (SIGKILL) at random moments. Nothing that
was stored may be lost or measured twice, and no configuration may be blamed.

Needs only Python: kill_sweep.py --fatune build/ci/bin/fatune --kills 20
"""

import argparse
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile

from sweep_tools import Sweep, print_table, skip_without_gpu


class Findings:
    def __init__(self):
        self.wrong = []

    def expect(self, holds, what):
        if not holds:
            self.wrong.append(what)
            print("WRONG:", what, flush=True)


def failures_of(problem):
    return {(entry["config"], entry["outcome"]) for entry in problem["failures"]}


def query(database, sql):
    """Returns all rows, or none if the database does not exist yet."""
    if not os.path.exists(database):
        return []
    connection = sqlite3.connect(database)
    try:
        return connection.execute(sql).fetchall()
    except sqlite3.OperationalError:  # killed before the tables were made
        return []
    finally:
        connection.close()


def next_sweep(database, first_run):
    """Returns the first run of the sweep that the next command belongs to. A complete run is not
    continued. It may be complete although it was killed before it printed."""
    complete = query(database, "SELECT max(id) FROM runs WHERE complete = 1")
    return max(first_run, (complete[0][0] or 0) + 1) if complete else first_run


def journals(database):
    """Returns the samples of each run's problems, in order: {(run, problem): [(configuration, us)]}."""
    rows = query(database,
                 "SELECT rp.run, rp.problem, j.config, j.us FROM journal j "
                 "JOIN run_problems rp ON rp.id = j.run_problem WHERE j.kind = 'sample' "
                 "ORDER BY rp.run, rp.problem, j.seq")
    found = {}
    for run, problem, config, us in rows:
        found.setdefault((run, problem), []).append((config, us))
    return found


def check_end_of_sweep(findings, database, report, first_run, reference):
    """Checks a sweep that was killed and has finally ended. Its first run is `first_run`."""
    findings.expect(report["complete"], "the last run is not complete")
    stored = {key: samples for key, samples in journals(database).items() if key[0] >= first_run}
    longest = {}
    for (_, problem), samples in sorted(stored.items()):
        before = longest.get(problem, [])
        findings.expect(samples[:len(before)] == before, f"stored samples of problem {problem} lost")
        longest[problem] = samples
    counted = sum(problem["measuring"]["samples_taken"] for problem in report["problems"])
    kept = sum(len(samples) for samples in longest.values())
    findings.expect(counted == kept, f"{kept} samples are stored, but {counted} were counted")
    for problem, expected in zip(report["problems"], reference["problems"]):
        findings.expect(failures_of(problem) == failures_of(expected), "other failures")
        findings.expect(len(problem["ranking"]) == len(expected["ranking"]), "others are ranked")


def kill_program(options, arguments, reference, findings):
    rows = [["kill", "after s", "samples stored", "sweep's first run"]]
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "fatune.db")
        arguments = arguments + ["--db", database]
        kills, first_run = 0, 1
        while True:
            sweep = Sweep(options.fatune, arguments)
            wait_s = random.uniform(0, options.most_s)
            if kills < options.kills and sweep.runs_for(wait_s):
                sweep.kill()
                kills += 1
                stored = sum(len(samples) for samples in journals(database).values())
                rows.append([kills, f"{wait_s:.2f}", stored, first_run])
            else:
                report, _ = sweep.result()
                check_end_of_sweep(findings, database, report, first_run, reference)
                if kills >= options.kills:
                    break
            first_run = next_sweep(database, first_run)
    print_table(rows)


def workers_of(pid):
    """Returns the processes that `pid` has started."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as stat:
                if name.isdigit() and int(stat.read().rpartition(")")[2].split()[1]) == pid:
                    found.append(int(name))
        except OSError:
            pass
    return found


def kill_workers_of(sweep, options, kills, rows):
    """Kills workers until the sweep has ended or enough were killed. Returns how many were killed."""
    while kills < options.kills:
        wait_s = random.uniform(0, options.most_s)
        if not sweep.runs_for(wait_s):
            break
        for worker in workers_of(sweep.process.pid):
            try:
                os.kill(worker, signal.SIGKILL)
            except ProcessLookupError:
                continue
            kills += 1
            rows.append([kills, f"{wait_s:.2f}", worker])
    return kills


def kill_worker(options, arguments, reference, findings):
    rows = [["kill", "after s", "worker"]]
    kills = 0
    while kills < options.kills:
        sweep = Sweep(options.fatune, arguments + ["--no-db"])
        kills = kill_workers_of(sweep, options, kills, rows)
        report, _ = sweep.result()
        findings.expect(report["complete"], "the sweep is not complete")
        for problem, expected in zip(report["problems"], reference["problems"]):
            findings.expect(failures_of(problem) == failures_of(expected),
                            f"blamed: {json.dumps(problem['failures'])[:2000]}")
            findings.expect(len(problem["ranking"]) == len(expected["ranking"]), "others are ranked")
    print_table(rows)


def winners(report):
    return [problem["ranking"][0]["config"] for problem in report["problems"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fatune", required=True, help="the program")
    parser.add_argument("--kills", type=int, default=20, help="of each kind")
    parser.add_argument("--most-s", type=float, default=4.0, help="the longest time between kills")
    parser.add_argument("--seq", default="512,1024,2048", help="as for fatune sweep")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--more", nargs=argparse.REMAINDER, default=[], help="more for fatune sweep")
    options = parser.parse_args()
    skip_without_gpu(options.fatune)
    random.seed(options.seed)
    findings = Findings()
    arguments = ["--family", "flash_sm80", "--seq", options.seq] + options.more
    reference, seconds = Sweep(options.fatune, arguments + ["--no-db"]).result()
    print(f"undisturbed: {seconds:.1f} s; winners: {winners(reference)}", flush=True)
    print("\nfatune is killed:", flush=True)
    kill_program(options, arguments, reference, findings)
    print("\nits worker is killed:", flush=True)
    kill_worker(options, arguments, reference, findings)
    print("\nwrong:", "; ".join(findings.wrong) if findings.wrong else "nothing")
    sys.exit(1 if findings.wrong else 0)


if __name__ == "__main__":
    main()
