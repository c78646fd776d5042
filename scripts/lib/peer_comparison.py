"""The contenders of one problem on the GPU: winners and peers on the same tensors, checked and then timed."""
import dataclasses

import attention_inputs
import attention_reference
import cuda_driver
import fatune_program
import kernel_launch
import peer_figures
import peer_kernels
import peer_rounds

# Of outputs of 16 bits, absolute and relative to the greatest one: mistakes are far larger, rounding only a few ulp.
# Outputs of many keys are small.
GREATEST_DIFFERENCE = 0.05


def is_context_dead(torch):
    try:
        torch.cuda.synchronize()
        return False
    except RuntimeError:
        return True


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


class ContextEnded(Exception):
    """A peer's kernel has ended the GPU's context: this process can measure nothing more."""

    def __init__(self, peer):
        super().__init__(f"{peer} ended the GPU's context")
        self.peer = peer


class Comparison:
    """The contenders of one problem, and the reasons why some are not timed."""

    def __init__(self, torch, driver, problem, note):
        self.torch, self.driver, self.problem, self._note = torch, driver, problem, note
        self.label = fatune_program.problem_label(problem)
        self.winners, self.peers, self.notes, self.failed = [], [], {}, False
        self._tensors, self._reference, self._errors = None, None, {}

    def give_up(self, name, reason, is_ours):
        self.notes[name] = str(reason)
        self.failed |= is_ours
        self._note(f"{self.label}: {name} is not timed: {reason}")

    def add(self, peers, kernels):
        """Adds all contenders. kernels: {configuration: compiled kernel, or the error}"""
        launchable = [one for one in kernels.values() if not isinstance(one, Exception)]
        if launchable:
            self.add_peers(peers, launchable[0]["launch"])
        for config, kernel in kernels.items():
            self._add_winner(config, kernel)

    def add_peers(self, peers, launch):
        """Adds peers. launch: has the tensors of the problem"""
        self._tensors = attention_inputs.tensors_of(self.torch, launch, self.problem)
        if attention_inputs.has_eight_bits(self.problem):
            inputs = attention_inputs.inputs_of(self.problem, self._tensors)
            self._reference = attention_reference.Reference(self.torch, inputs)
        for peer in peers.values():
            self._add_peer(peer)

    def _add_peer(self, peer):
        if reason := peer_kernels.cannot_do(peer, self.problem):
            self.notes[peer.name] = reason
            return
        inputs = attention_inputs.inputs_of(self.problem, self._tensors)
        for name, make in peer.kernels_for(inputs).items():
            self._add_kernel_of_peer(peer, name, make, inputs)

    def _add_kernel_of_peer(self, peer, name, make, inputs):
        try:
            launch = make(inputs)
            contender = peer_rounds.Contender(name, launch, flop=peer.flop, peer=peer.name)
            output = contender.launch()
            if peer.flop is None:
                self._check(name, output, peer.output_scale(inputs))
            self.peers.append(contender)
        except Exception as error:  # other projects' kernels may raise anything
            self.give_up(name, f"{type(error).__name__}: {error}", False)
            if is_context_dead(self.torch):
                raise ContextEnded(peer.name) from error

    def _add_winner(self, config, compiled):
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

    def _check(self, name, output, scale=None):
        """Compares an output with the first one, or if K and V have 8 bits with attention in fp32. scale: what O is
        multiplied by"""
        self.torch.cuda.synchronize()
        if attention_inputs.has_eight_bits(self.problem):
            self._errors[name] = self._reference.check(output, scale)
            return
        if self._reference is None:
            self._reference = (name, output.float())
            return
        of, reference = self._reference
        worst, greatest = ((output.float() - reference).abs().max().item(), reference.abs().max().item())
        if not worst <= GREATEST_DIFFERENCE * min(1.0, greatest):
            raise RuntimeError(f"its output is {worst} off that of {of}")

    def measure(self, timer, budget, winners):
        row, = measure_in_turns([(self, winners)], timer, budget)
        return row

    def contenders(self):
        self._reference = None  # its memory is no longer needed
        return self.winners + self.peers

    def row(self, times, clock, winners):
        """times: {name of a contender: milliseconds}"""
        flop = (fatune_program.literature_flop(next(iter(winners.values()))) if winners
                else fatune_program.flop_of(self.problem))
        figures = {one.name: peer_figures.figure(times[one.name], one.flop or flop)
                   for one in self.winners + self.peers}
        candidates = {one.name: {"family": winners[one.name]["family"], **figures[one.name]} for one in self.winners}
        return {"label": self.label, "problem": self.problem, "rounds": len(next(iter(times.values()), [])),
                "sm_clock_mhz": clock, "best": peer_figures.best_candidate(candidates), "candidates": candidates,
                "peers": self._fastest_of_peers(figures), "notes": self.notes,
                **({"errors": self._errors} if self._errors else {})}

    def _fastest_of_peers(self, figures):
        fastest = {}
        for one in sorted(self.peers, key=lambda one: figures[one.name]["median_ms"]):
            fastest.setdefault(one.peer, {**figures[one.name], "kernel": one.name})
        return {name: fastest[name] for name in dict.fromkeys(one.peer for one in self.peers)}


def measure_in_turns(parts, timer, budget):
    """Times the contenders of several comparisons in the same rounds. parts: [(Comparison, its winners)]. Returns a row
    for each."""
    named = [{contender.name: dataclasses.replace(contender, name=f"{number} {contender.name}")
              for contender in comparison.contenders()} for number, (comparison, _) in enumerate(parts)]
    contenders = [contender for of in named for contender in of.values()]
    times, clock = timer.measure(contenders, budget) if contenders else ({}, None)
    return [comparison.row({name: times[contender.name] for name, contender in of.items()}, clock, winners)
            for of, (comparison, winners) in zip(named, parts)]
