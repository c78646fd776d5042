"""What is said of runs of a model with different attention: times, errors and the rule for them, who computed calls."""
import math
import statistics

BF16_DIGITS = 8
PHASES = ("prefill", "decode")  # the first step of a generation, and the others
DEFAULT = "default"
FATUNE = "fatune"


def bf16_ulp(value):
    """Returns the distance of BF16 numbers of this size."""
    return math.ldexp(1.0, math.frexp(value)[1] - BF16_DIGITS) if value > 0 else 0.0


def limit(rounded_error, greatest):
    """Returns what an output may be wrong by (docs/measurement.md): twice the error of attention whose steps are rounded
    to 16 bits, and at least a unit in the last place of the greatest value of the reference."""
    return max(2.0 * rounded_error, bf16_ulp(greatest))


def with_limits(errors, rounded, greatest):
    """Returns the phases of a run with what it may be wrong by, and whether it keeps that. `errors` are {phase: {"exact":,
    "rounded":}}, greatest differences to both references; `rounded` and `greatest` are {phase: value} of the references:
    by how much the rounded one differs from the exact one, and the greatest value of that."""
    found = {}
    for phase, of in errors.items():
        most = limit(rounded[phase], greatest[phase])
        found[phase] = {**of, "limit": most, "agrees": all(value <= most for value in of.values())}
    return found


def agrees(phases):
    return all(of["agrees"] for of in phases.values())


def times_of(rounds):
    """Returns the medians of rounds, each {"seconds":, "tokens":, "attention_us": [us of each step]}."""
    steps = [(of["attention_us"][0], sum(of["attention_us"][1:])) for of in rounds]
    prefill, decode = (statistics.median(times) for times in zip(*steps))
    return {"prefill_us": prefill, "decode_us": decode, "attention_us": statistics.median(map(sum, steps)),
            "tokens_per_s": statistics.median(of["tokens"] / of["seconds"] for of in rounds)}


def with_ratios(runs):
    """Returns the runs {name: figures}, each with how many times as fast it is as the default."""
    first = runs[DEFAULT]["times"]
    return {name: {**run, "speedup": first["attention_us"] / run["times"]["attention_us"],
                   "tokens_ratio": run["times"]["tokens_per_s"] / first["tokens_per_s"]} for name, run in runs.items()}


def computed_by(explanation, refusal):
    """Returns who computes a call: (by a kernel, which one or why not). `explanation` is the package's of the operator's
    call, or None if the operator was not called; `refusal` then says why."""
    if explanation is None:
        return False, refusal or "the operator was not called"
    if explanation.step == "refused":
        return False, explanation.reason
    if explanation.untuned:
        return False, f"no tuned problem is like the call: {explanation.untuned.split(':')[0]}"
    return True, f"{explanation.config} ({explanation.step})"


def call_lines(counts):
    """Returns lines about calls counted as {(phase, (by a kernel, text)): calls}."""
    by_kernels = sum(calls for (_, (by_kernel, _)), calls in counts.items() if by_kernel)
    lines = [f"{by_kernels} of {sum(counts.values())} calls of attention are computed by kernels of the package"]
    for (phase, (by_kernel, text)), calls in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"  {calls:6} {phase:7} {'' if by_kernel else 'PyTorch: '}{text}")
    return lines


def call_rows(counts):
    """Returns the same for JSON."""
    return [{"phase": phase, "by_kernel": by_kernel, "detail": text, "calls": calls}
            for (phase, (by_kernel, text)), calls in counts.items()]


def _number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def _cells(name, run):
    times = run.get("times", {})
    errors = [f"{of['exact']:.3g}/{of['limit']:.3g}" for of in run["phases"].values()]
    rms = max((ratio for ratio in run["rms_ratio"].values() if ratio is not None), default=None)
    return [f"{name} ({run['implementation']})",
            *(_number(times.get(member), 1) for member in ("prefill_us", "decode_us", "attention_us")),
            _number(run.get("speedup"), 3), _number(times.get("tokens_per_s"), 0), _number(run.get("tokens_ratio"), 3),
            *errors, _number(rms, 2), f"{run['same_tokens']}/{run['tokens']}", "yes" if agrees(run["phases"]) else "NO"]


def table(runs):
    """Returns the lines of a table of runs {name: figures}."""
    heads = ["attention", "prefill us", "decode us", "all us", f"/{DEFAULT}", "tokens/s", f"/{DEFAULT}", "error/limit",
             "of decoding", "rms ratio", "same tokens", "agrees"]
    rows = [heads, *(_cells(name, run) for name, run in runs.items())]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [f"{row[0]:{widths[0]}}" + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:]))
            for row in rows]
