"""A file of 40,000 measured results is shown within the memory that the results need.

many_results_test.py FATUNE RESULTS: results are repeated from the file RESULTS.
"""
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

COUNT = 40_000
MOST_BYTES_PER_RESULT = 5_000


def write_many(source, target):
    document = json.loads(source.read_text(encoding="utf-8"))
    run = document["runs"][0] if document["format"] == "fatune.runs" else document
    run["problems"] = run["problems"][:1]
    problem = run["problems"][0]
    problem["ranking"] = [dict(problem["ranking"][0], rank=i + 1) for i in range(COUNT)]
    problem["more_ranked"] = 0
    target.write_text(json.dumps(run), encoding="utf-8")


def peak_bytes(command):
    """Runs the command. Returns the most memory that it held, and what it printed."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return 1024 * usage.ru_maxrss, printed


def main():
    fatune, source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        many = pathlib.Path(folder, "many.json")
        # A program's peak begins with the memory of the process that started it: this one stays small.
        writer = multiprocessing.Process(target=write_many, args=(pathlib.Path(source), many))
        writer.start()
        writer.join()
        start, _ = peak_bytes([fatune, "show", source, "--top", "1"])
        peak, printed = peak_bytes([fatune, "show", str(many), "--top", "1"])
    assert f"... and {COUNT - 1} more" in printed, printed
    each = (peak - start) / COUNT
    print(f"{each:.0f} bytes for each of {COUNT} results")
    assert each < MOST_BYTES_PER_RESULT, each


if __name__ == "__main__":
    main()
