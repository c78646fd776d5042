"""Times contenders in rounds. In each round every contender gives one sample, in another order: a cold launch, or a
turn of launches back to back."""
import dataclasses
import statistics
import time
from typing import Callable

WARMUP_ROUNDS = 3
LEAST_ROUNDS = 7
LEAST_ROUNDS_OF_TURNS = 2
MOST_ROUNDS = 200  # limit with a budget
LEAST_PAUSE_CYCLES = 300_000
MOST_PAUSE_CYCLES = 20_000_000
CYCLES_PER_S = 2e9  # an upper bound: the pause may be longer than intended
FLUSH_WORDS = 64 * 2**20  # 256 MiB: more than any L2
CLOCK_READINGS = 8  # per problem
MOST_TRIES = 20  # of a sample that the host is too slow for
LEFT_OUT = 1 / 3  # of a turn, at its beginning: the clock is that of the contender before, or still changes
BATCHES = 50  # of a turn: it is divided into about so many, or fewer


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

    def rounds(self, round_s, least=LEAST_ROUNDS):
        """Returns the number of rounds of a problem, one round of which takes round_s. least: of them, with a budget"""
        if self._share_ends is None:
            return self._most
        fitting = int((self._share_ends - self._clock()) / max(round_s, 1e-6))
        return min(self._most, max(least, fitting))


def in_turn(items, number):
    """Returns the items as they come in the round of this number. Over as many rounds as there are items, or twice as many
    if they are odd in number, each comes at every place equally often, and right after every other one equally often (a
    Williams design): the power of one launch decides a part of the next one's clock."""
    count = len(items)
    places = [(place + 1) // 2 if place % 2 else -(place // 2) for place in range(count)]  # 0, 1, -1, 2, -2, ...
    order = [items[(place + number) % count] for place in places]
    return order[::-1] if count % 2 and number // count % 2 else order


def pause_cycles(host_s):
    """A pause that is long enough for the host to queue a launch, which takes it host_s, before the device is ready."""
    return int(min(MOST_PAUSE_CYCLES, max(LEAST_PAUSE_CYCLES, 2 * host_s * CYCLES_PER_S)))


class Timer:
    """Takes cold samples on one GPU, through PyTorch's current stream."""

    samples = "interleaved rounds"

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

    def _between_events(self, launch):
        """Launches, and returns the events around it."""
        start, stop = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        launch()
        stop.record()
        return start, stop

    def _sample(self, contender, pause):
        """Returns the events around a launch, and how long the host took to queue it and them."""
        contender.prepare()
        self._make_cold(pause)
        begin = time.perf_counter()
        start, stop = self._between_events(contender.launch)
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

    def _take(self, contenders, rounds, sample):
        """Returns ({name: [what sample returns]}, the median clock in MHz, or None)."""
        samples, clocks = {contender.name: [] for contender in contenders}, []
        for number in range(rounds):
            for contender in in_turn(contenders, number):
                samples[contender.name].append(sample(contender))
            if number % -(-rounds // CLOCK_READINGS) == 0:
                clocks.append(self._clock_mhz())
        self._torch.cuda.synchronize()
        known = [clock for clock in clocks if clock]
        return samples, statistics.median(known) if known else None

    def measure(self, contenders, budget):
        """Returns ({name: [ms]}, the median clock in MHz, or None)."""
        round_s, host_s = self._warm_up(contenders)
        rounds, pause = budget.rounds(round_s), pause_cycles(host_s)
        events, clock = self._take(contenders, rounds, lambda contender: self._sample_ahead(contender, pause))
        return {name: [start.elapsed_time(stop) for start, stop in pairs] for name, pairs in events.items()}, clock


class TurnTimer(Timer):
    """Its samples are turns: launches of one contender back to back, for so long that the contender's own power decides
    its clock. The L2 is warm."""

    def __init__(self, torch, turn_s):
        super().__init__(torch)
        self._turn_s = turn_s
        self.samples = f"turns of {turn_s:g} s"

    def _batch(self, contender, size):
        """Queues launches. Returns the events around each."""
        batch = []
        for _ in range(size):
            contender.prepare()
            batch.append(self._between_events(contender.launch))
        return batch

    def _batches(self, contender):
        """Launches back to back. Yields each batch when the GPU has come to its end, and the next one is queued."""
        running, size = self._batch(contender, 1), 1
        while True:
            queued = self._batch(contender, size)
            start, end = running[0][0], running[-1][1]
            end.synchronize()
            if start.elapsed_time(end) < 1e3 * self._turn_s / BATCHES:
                size = 2 * len(running)
            yield running
            running = queued

    def _turn(self, contender):
        """Returns the median milliseconds of a turn's launches, without those at its beginning. A batch that was queued
        still runs afterwards: the GPU idles neither between turns nor while its clock is read."""
        turn_ms, begin, times_ms = 1e3 * self._turn_s, None, []
        for batch in self._batches(contender):
            begin = begin or batch[0][0]
            times_ms += [start.elapsed_time(stop) for start, stop in batch
                         if begin.elapsed_time(start) >= LEFT_OUT * turn_ms]
            if times_ms and begin.elapsed_time(batch[-1][1]) >= turn_ms:
                return statistics.median(times_ms)

    def measure(self, contenders, budget):
        rounds = budget.rounds(len(contenders) * self._turn_s, LEAST_ROUNDS_OF_TURNS)
        return self._take(contenders, rounds, self._turn)


def timer(torch, turn_s):
    """turn_s: seconds of a turn, or None for cold samples"""
    return Timer(torch) if turn_s is None else TurnTimer(torch, turn_s)
