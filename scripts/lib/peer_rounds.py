"""Times contenders in rounds. In each round every contender gets one cold sample, in another order."""
import dataclasses
import statistics
import time
from typing import Callable

WARMUP_ROUNDS = 3
LEAST_ROUNDS = 7
MOST_ROUNDS = 200  # limit with a budget
LEAST_PAUSE_CYCLES = 300_000
MOST_PAUSE_CYCLES = 20_000_000
CYCLES_PER_S = 2e9  # an upper bound: the pause may be longer than intended
FLUSH_WORDS = 64 * 2**20  # 256 MiB: more than any L2
CLOCK_READINGS = 8  # per problem
MOST_TRIES = 20  # of a sample that the host is too slow for


@dataclasses.dataclass
class Contender:
    name: str
    launch: Callable
    prepare: Callable = lambda: None  # before each launch, not timed
    flop: int | None = None  # of a launch; None: the problem's
    peer: str | None = None  # whose kernel it is


class Budget:
    """How many rounds each problem gets: a fixed number, or as many as fit an even share of the remaining seconds."""

    def __init__(self, problems, rounds, seconds=None, clock=time.monotonic):
        self._clock, self._left = clock, problems
        self._most = rounds or (MOST_ROUNDS if seconds else 20)
        self._end = clock() + seconds if seconds else None
        self._share_ends = None

    def begin_problem(self):
        if self._end is not None:
            now = self._clock()
            self._share_ends = now + (self._end - now) / max(1, self._left)
        self._left -= 1

    def rounds(self, round_s):
        """Returns the number of rounds of a problem, one round of which takes round_s."""
        if self._share_ends is None:
            return self._most
        fitting = int((self._share_ends - self._clock()) / max(round_s, 1e-6))
        return min(self._most, max(LEAST_ROUNDS, fitting))


def rotated(items, steps):
    steps %= len(items)
    return items[steps:] + items[:steps]


def pause_cycles(host_s):
    """A pause that is long enough for the host to queue a launch, which takes it host_s, before the device is ready."""
    return int(min(MOST_PAUSE_CYCLES, max(LEAST_PAUSE_CYCLES, 2 * host_s * CYCLES_PER_S)))


class Timer:
    """Takes samples on one GPU, through PyTorch's current stream."""

    def __init__(self, torch):
        self._torch = torch
        self._flush = torch.zeros(FLUSH_WORDS, dtype=torch.int32, device="cuda")

    def _make_cold(self, pause):
        self._flush.max()  # reads: after writes, the L2 would still hold lines to be written back
        self._torch.cuda._sleep(pause)  # the host runs ahead

    def launch_cold(self, launch):
        """Launches with a cold L2, as for a sample, and takes none."""
        self._make_cold(LEAST_PAUSE_CYCLES)
        launch()

    def _sample(self, contender, pause):
        """Returns the events around a launch, and how long the host took to queue it and them."""
        start, stop = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        contender.prepare()
        self._make_cold(pause)
        begin = time.perf_counter()
        start.record()
        contender.launch()
        stop.record()
        return start, stop, time.perf_counter() - begin

    def _sample_ahead(self, contender, pause):
        """Returns the events of a sample for which the device did not wait for the host: others are taken again."""
        for _ in range(MOST_TRIES):
            start, stop, host_s = self._sample(contender, pause)
            if host_s < pause / CYCLES_PER_S:
                break
        return start, stop

    def _clock_mhz(self):
        try:
            return self._torch.cuda.clock_rate()
        except Exception:  # it needs NVML's Python package
            return None

    def _warm_up(self, contenders):
        """Returns a round's seconds, and the host's longest time for a launch."""
        host_s = []
        for _ in range(WARMUP_ROUNDS):
            self._torch.cuda.synchronize()
            begin = time.perf_counter()
            taken = [self._sample(contender, LEAST_PAUSE_CYCLES)[2] for contender in contenders]
            self._torch.cuda.synchronize()
            round_s = time.perf_counter() - begin
            host_s.append(max(taken))
        return round_s, min(host_s)

    def measure(self, contenders, budget):
        """Returns ({name: [ms]}, the median clock in MHz, or None)."""
        round_s, host_s = self._warm_up(contenders)
        rounds, pause = budget.rounds(round_s), pause_cycles(host_s)
        events, clocks = {contender.name: [] for contender in contenders}, []
        for number in range(rounds):
            for contender in rotated(contenders, number):
                events[contender.name].append(self._sample_ahead(contender, pause))
            if number % -(-rounds // CLOCK_READINGS) == 0:
                clocks.append(self._clock_mhz())
        self._torch.cuda.synchronize()
        times = {name: [start.elapsed_time(stop) for start, stop in pairs] for name, pairs in events.items()}
        known = [clock for clock in clocks if clock]
        return times, statistics.median(known) if known else None
