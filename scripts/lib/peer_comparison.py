"""The contenders of one problem on the GPU: winners and peers on the same tensors, checked and then timed."""
import cuda_driver
import fatune_program
import kernel_launch
import peer_figures
import peer_kernels
import peer_rounds

GREATEST_DIFFERENCE = 0.05  # of outputs: mistakes are far larger, rounding only a few ulp


def tensors_of(torch, launch):
    """Returns Q, K, V (normal random) and O (NaN) as (batch, positions, heads, columns)."""
    tensors = {}
    for tensor in launch["tensors"]:
        strided = torch.empty_strided(tensor["shape"], tensor["strides"], dtype=getattr(torch, tensor["element_type"]),
                                      device="cuda")
        tensors[tensor["name"]] = strided.fill_(float("nan")) if tensor["name"] == "o" else strided.normal_()
    return tensors


def allocate_buffers(torch, launch):
    buffers = {}
    for buffer in launch["arguments"]["buffers"]:
        word = buffer["word"] - (1 << 32 if buffer["word"] >= 1 << 31 else 0)
        words = -(-buffer["bytes"] // 4)
        buffers[buffer["name"]] = (torch.full((words,), word, dtype=torch.int32, device="cuda"), word)
    return buffers


def winner_contender(torch, driver, config, compiled, tensors):
    launch = compiled["launch"]
    function = driver.load_kernel(compiled["cubin"], compiled["symbol"])
    driver.prepare(function, launch)
    buffers = allocate_buffers(torch, launch)
    addresses = {**{name: tensor.data_ptr() for name, tensor in tensors.items()},
                 **{name: tensor.data_ptr() for name, (tensor, _) in buffers.items()}}
    queue = driver.launcher(function, launch,
                            kernel_launch.pack_arguments(launch, addresses.__getitem__, driver.encode_tensor_map))
    stream = torch.cuda.current_stream().cuda_stream

    def fill(when):
        for name in kernel_launch.buffers_cleared(launch, when):
            buffers[name][0].fill_(buffers[name][1])

    def run():
        fill("timed")
        queue(stream)

    return peer_rounds.Contender(config, run, lambda: fill("before_launch"))


class Comparison:
    """The contenders of one problem, and the reasons why some are not timed."""

    def __init__(self, torch, driver, problem, note):
        self.torch, self.driver, self.problem, self._note = torch, driver, problem, note
        self.label = fatune_program.problem_label(problem)
        self.winners, self.peers, self.notes, self.failed = [], [], {}, False
        self._tensors, self._reference = None, None

    def give_up(self, name, reason, is_ours):
        self.notes[name] = str(reason)
        self.failed |= is_ours
        self._note(f"{self.label}: {name} is not timed: {reason}")

    def add_peers(self, peers, launch):
        self._tensors = tensors_of(self.torch, launch)
        q, k, v = (self._tensors[name] for name in "qkv")
        scale = self.problem.get("softmax_scale", self.problem["d_head"] ** -0.5)
        for name, peer in peers.items():
            if reason := peer_kernels.cannot_do(peer, self.problem):
                self.notes[name] = reason
                continue
            try:
                contender = peer_rounds.Contender(name, peer.make(q, k, v, self.problem["causal"], scale),
                                                  flop=peer.flop)
                output = contender.launch()
                if peer.flop is None:
                    self._check(name, output)
                self.peers.append(contender)
            except Exception as error:  # other projects' kernels may raise anything
                self.give_up(name, f"{type(error).__name__}: {error}", False)

    def add_winner(self, config, compiled):
        try:
            if isinstance(compiled, fatune_program.ProgramError):
                raise compiled
            contender = winner_contender(self.torch, self.driver, config, compiled, self._tensors)
            contender.prepare()
            contender.launch()
            self._check(config, self._tensors["o"])
            self.winners.append(contender)
        except (fatune_program.ProgramError, cuda_driver.DriverError, RuntimeError, ValueError) as error:
            self.give_up(config, error, True)
        if self._tensors is not None:
            self._tensors["o"].fill_(float("nan"))

    def _check(self, name, output):
        """Compares an output with the first one."""
        self.torch.cuda.synchronize()
        if self._reference is None:
            self._reference = (name, output.float())
            return
        worst = (output.float() - self._reference[1]).abs().max().item()
        if not worst < GREATEST_DIFFERENCE:
            raise RuntimeError(f"its output is {worst} off that of {self._reference[0]}")

    def measure(self, timer, budget, winners):
        self._reference = None  # its memory is no longer needed
        contenders = self.winners + self.peers
        times, clock = timer.measure(contenders, budget) if contenders else ({}, None)
        flop = fatune_program.literature_flop(next(iter(winners.values())))
        figures = {one.name: peer_figures.figure(times[one.name], one.flop or flop) for one in contenders}
        candidates = {one.name: {"family": winners[one.name]["family"], **figures[one.name]} for one in self.winners}
        return {"label": self.label, "problem": self.problem, "rounds": len(next(iter(times.values()), [])),
                "sm_clock_mhz": clock, "best": peer_figures.best_candidate(candidates), "candidates": candidates,
                "peers": {one.name: figures[one.name] for one in self.peers}, "notes": self.notes}
