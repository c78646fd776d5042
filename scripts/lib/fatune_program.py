"""Reads what `fatune` writes and prints, for scripts: winners of best_configs.json, compiled kernels."""
import json
import math
import pathlib
import subprocess

# Members of a problem, and the options that set them. Configurations have dtype and d_head themselves.
OPTIONS = {"batch": "--batch", "seq_len": "--seq", "heads": "--heads", "causal": "--causal", "seq_len_kv": "--seq-kv",
           "kv_heads": "--kv-heads", "d_head_v": "--dhead-v", "window": "--window",
           "softmax_scale": "--softmax-scale", "lse": "--lse", "layout": "--layout",
           "seq_lens_kv": "--seq-kv-lens", "softcap": "--softcap", "sinks": "--sinks", "page_size": "--page-size",
           "seq_lens": "--seq-lens", "latent": "--latent", "kv_dtype": "--kv-dtype", "kv_scales": "--kv-scales"}
OF_CONFIGURATION = ("dtype", "d_head")
KEY_LENGTHS = "seq_lens_kv"  # of a problem whose sequences have different numbers of keys: a list as text
MOST_CHARACTERS = 30  # of a value in a label


NOTHING_ELIGIBLE = 5  # an exit code of predict


class ProgramError(Exception):
    """An error of fatune, or in a file."""


def _run(command, codes=(0,), timeout_s=None):
    """Runs fatune, which must end with one of the codes. Returns what it printed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProgramError(f"{' '.join(command)}: {error}") from error
    if done.returncode not in codes:
        raise ProgramError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def problem_options(problem):
    options = []
    for member, value in problem.items():
        if member in OF_CONFIGURATION or value is False or value == "":
            continue
        if member in ("seq_len", "seq_len_kv") and problem.get("seq_lens"):
            continue  # they follow from the lists
        if member not in OPTIONS:
            raise ProgramError(f"a problem has '{member}', which is not known here")
        options += [OPTIONS[member]] if value is True else [OPTIONS[member], str(value)]
    return options


def whole_problem_options(problem):
    """Returns the options for commands that get no configuration."""
    return [*problem_options(problem), "--dtype", problem["dtype"].lower(), "--dhead", str(problem["d_head"])]


def usual_details(problem):
    """Returns the details that a problem of these sizes has by default."""
    return {"seq_len_kv": problem["seq_len"], "kv_heads": problem["heads"], "d_head_v": problem["d_head"],
            "window": 0, "softmax_scale": problem["d_head"] ** -0.5, "lse": False, "layout": "bshd",
            "seq_lens_kv": "", "softcap": 0.0, "sinks": False, "page_size": 0, "seq_lens": "", "latent": False,
            "kv_dtype": problem["dtype"], "kv_scales": "tensor"}


def problem_label(problem):
    label = "b{batch} s{seq_len} h{heads} d{d_head} {dtype}".format(**problem) + " causal" * problem["causal"]
    named = ("batch", "seq_len", "heads", "d_head", "dtype", "causal")
    usual = usual_details(problem)
    return label + "".join(f" {name}={_shortened(str(value))}" for name, value in problem.items()
                           if name not in named and not is_about(value, usual.get(name)))


def _shortened(text):
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS - 3] + "..."


def lengths_in(problem, member):
    """Returns the list of lengths that a member of a problem has as text, or None if it is not given."""
    if not problem.get(member):
        return None
    try:
        return [int(word) for word in problem[member].split(",")]
    except ValueError as error:
        raise ProgramError(f"{member} is '{problem[member]}': only lists are known here") from error


def key_lengths(problem):
    """Returns the keys of each sequence, or None if all have as many, or as many as queries."""
    return lengths_in(problem, KEY_LENGTHS)


def query_lengths(problem):
    """Returns the queries of each sequence of a packed batch, or None if the batch is not packed."""
    return lengths_in(problem, "seq_lens")


def total_keys(problem):
    """Returns the keys of all sequences together, for one head."""
    lengths = key_lengths(problem) or query_lengths(problem)
    return problem["batch"] * problem["seq_len_kv"] if lengths is None else sum(lengths)


def is_about(value, usual):
    """Whether the values are equal, up to the last digit of a float that was written in single precision."""
    return math.isclose(value, usual, rel_tol=1e-6) if isinstance(value, float) and usual else value == usual


def is_same(one, other):
    """Whether two problems are the same, if what they do not say is usual."""
    full, of = ({**usual_details(problem), **problem} for problem in (one, other))
    return full.keys() == of.keys() and all(is_about(value, of[name]) for name, value in full.items())


def winners_of(file, device):
    """Returns [(problem, winner)] of a best_configs.json for the GPU of this name, or else for its first GPU."""
    try:
        best = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
        runs = best["runs"] if "runs" in best else [best]
        models = [run["device"]["name"] for run in runs]
        model = device if device in models else models[0]
        return [(entry["problem"], entry["ranking"][0])
                for run in runs if run["device"]["name"] == model
                for entry in run["problems"] if entry["ranking"]]
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise ProgramError(f"{file}: not a best_configs.json that a sweep has written ({error!r})") from error


def flop_of(problem):
    """Returns the operations of a problem without a window and without lengths that differ, as fatune counts them: 2 * (d
    of Q and K + d of V) for each query and key that it sees, and of square causal ones for half of all."""
    queries, keys = problem["seq_len"], problem.get("seq_len_kv", problem["seq_len"])
    if not problem["causal"] or queries == 1:
        pairs = queries * keys
    else:
        # The last query is at the last key.
        pairs = queries * keys / 2 if queries == keys else sum(max(0, keys - row) for row in range(queries))
    columns = problem["d_head"] + problem.get("d_head_v", problem["d_head"])
    return 2.0 * problem["batch"] * problem["heads"] * pairs * columns


def literature_flop(winner):
    """Returns the operations as fatune counted them: 4 b h s^2 d, half if causal."""
    rate, time_us = winner.get("literature_tflops"), winner.get("time_us")
    if not rate or not time_us:
        raise ProgramError(f"the winner {winner['config']} was not measured: give the file of a sweep on a GPU")
    return rate * time_us * 1e6


def winners_by_problem(files, device):
    """Returns [(problem, {configuration: winner})] in the files' order, with each problem once."""
    found = {}
    for file in files:
        for problem, winner in winners_of(file, device):
            known = found.setdefault(json.dumps(problem, sort_keys=True), (problem, {}))
            known[1].setdefault(winner["config"], winner)
    if not found:
        raise ProgramError("the files name no winner")
    return list(found.values())


def compile_kernel(fatune, config, problem, arch, folder):
    """Returns the report's row of one configuration, with "cubin" (bytes), "device" and "toolchain"."""
    command = [fatune, "compile", "--config", config, "--arch", arch, *problem_options(problem), "--jobs", "1", "--out",
               str(folder), "--format", "json", "--quiet", "--config-file", "none"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        report = json.loads(done.stdout) if done.stdout else {"configs": [{"launch": None}]}
    except (OSError, ValueError) as error:
        raise ProgramError(f"{' '.join(command)}: {error}") from error
    row = report["configs"][0]
    if done.returncode != 0 or not row["launch"]:
        reason = done.stderr.strip() or row.get("detail") or row.get("log")
        raise ProgramError(f"{' '.join(command)} ended with {done.returncode}: {reason}")
    return {**row, "cubin": pathlib.Path(row["cubin_file"]).read_bytes(), "device": report["device"],
            "toolchain": report["toolchain"]}


def sweep(fatune, problem, folder, more, timeout_s):
    """Sweeps one problem. Returns the best_configs.json that it wrote."""
    return _sweep(fatune, whole_problem_options(problem), folder, more, timeout_s)


def sweep_workload(fatune, workload, folder, more):
    """Sweeps the problems of a workload's file. Returns the best_configs.json that it wrote, beside results.json."""
    return _sweep(fatune, ["--workload", str(workload)], folder, more, None)


def _sweep(fatune, problems, folder, more, timeout_s):
    _run([fatune, "sweep", *problems, "--no-db", "--quiet", "--config-file", "none", "--out", str(folder), *more],
         timeout_s=timeout_s)
    return pathlib.Path(folder) / "best_configs.json"


def predict(fatune, problem, device):
    """Returns what fatune chooses for a problem on this machine's GPU, whose name is device: a row of `predict`'s
    report. It has no "config" if nothing is eligible."""
    command = [fatune, "predict", *whole_problem_options(problem), "--format", "json", "--quiet", "--config-file", "none"]
    try:
        report = json.loads(_run(command, (0, NOTHING_ELIGIBLE)))
    except ValueError as error:
        raise ProgramError(f"{' '.join(command)}: {error}") from error
    if report["device"]["name"] != device:
        raise ProgramError(f"{' '.join(command)}: it chose for {report['device']['name']}, and this GPU is {device}")
    return report["predictions"][0]
