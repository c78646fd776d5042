"""Generates with a model of transformers that has random weights, by one attention or another.

Attention is the function that transformers' models look up for each call: around_attention() records, times or counts
what it does, whichever function it is.
"""
import collections
import contextlib
import json
import math
import pathlib
import time

import torch
import transformers
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AttentionInterface, AttentionMaskInterface, LogitsProcessor, LogitsProcessorList
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

import attention_inputs
import model_figures
import peer_kernels
import peer_rounds

EXACT, ROUNDED = "exact_reference", "rounded_reference"  # names of attention, for transformers


def stepwise(dtype):
    """Returns attention that computes one step after the other, and rounds each to `dtype`: scaled products, softmax,
    result. Masks are those of sdpa."""
    def attention(module, query, key, value, attention_mask, scaling=None, softcap=None, **_):
        rows = query.size(2)
        if attention_mask is None:
            keys = rows if rows > 1 else key.size(2)  # a static cache may have empty rows behind a prompt
            key, value = key[:, :, :keys], value[:, :, :keys]
            attention_mask = torch.ones(1, 1, rows, keys, dtype=torch.bool, device=query.device).tril(keys - rows)
        o = [_of_sequence(*one, scaling, softcap, dtype)
             for one in zip(query, key, value, attention_mask.expand(query.size(0), -1, -1, -1))]
        return torch.stack(o).transpose(1, 2).contiguous(), None

    return attention


def _of_sequence(q, k, v, mask, scaling, softcap, dtype):
    """Computes attention of tensors (heads, rows, d), those heads together that share one of K and V."""
    scaling = q.size(-1) ** -0.5 if scaling is None else scaling
    group = q.size(0) // k.size(0)
    results = []
    for heads, k_head, v_head in zip(q.to(dtype).split(group), k.to(dtype), v.to(dtype)):
        scores = heads @ k_head.mT * scaling
        if softcap:
            scores = torch.tanh(scores / softcap) * softcap
        scores = scores.masked_fill(~mask, float("-inf"))
        results.append(torch.softmax(scores, -1, dtype=torch.float32).to(dtype) @ v_head)
    return torch.cat(results).to(q.dtype)


def register_attention(name, function):
    """Has transformers know the function under the name, with masks of sdpa."""
    AttentionInterface.register(name, function)
    AttentionMaskInterface.register(name, AttentionMaskInterface()["sdpa"])


def register_references():
    register_attention(EXACT, stepwise(torch.float32))
    register_attention(ROUNDED, stepwise(torch.bfloat16))


@contextlib.contextmanager
def around_attention(wrap):
    """Has each call of attention made by wrap(function), until the block ends."""
    look_up = ALL_ATTENTION_FUNCTIONS.get_interface
    ALL_ATTENTION_FUNCTIONS.get_interface = lambda name, default: wrap(look_up(name, default))
    try:
        yield
    finally:
        del ALL_ATTENTION_FUNCTIONS.get_interface  # the class's is behind it


class _Continued(LogitsProcessor):
    """Has greedy generation continue given tokens (batch, steps)."""

    def __init__(self, tokens, prompt):
        self._tokens, self._prompt = tokens, prompt

    def __call__(self, input_ids, scores):
        step = input_ids.size(1) - self._prompt
        return torch.full_like(scores, float("-inf")).scatter_(1, self._tokens[:, step:step + 1], 0.0)


def _usual_attention(config):
    """Returns what transformers has chosen. Versions before 5.24 choose sdpa for Gemma 2, which leaves out its softcap."""
    chosen = config._attn_implementation
    return "eager" if chosen == "sdpa" and getattr(config, "attn_logit_softcapping", None) else chosen


class Model:
    """A model and its prompts. The same seed makes the same ones on the same device."""

    def __init__(self, settings, options, device):
        settings = {**settings, "num_hidden_layers": options.layers} if options.layers else dict(settings)
        settings.pop("layer_types", None)  # of a published configuration, for all its layers
        config = transformers.AutoConfig.for_model(**settings)
        torch.manual_seed(options.seed)
        with torch.device(device):
            self.model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
        self.model.to(device).generation_config.eos_token_id = None  # all sequences have as many tokens
        self.options, self.device = options, device
        self.layers = self.model.base_model.layers
        self.usual_attention = _usual_attention(config)
        generator = torch.Generator().manual_seed(options.seed)
        self.ids = torch.randint(config.vocab_size, (options.batch, options.prompt), generator=generator).to(device)

    def use(self, implementation):
        self.model.set_attn_implementation(implementation)

    def generate(self, tokens=None, **more):
        """Generates as many tokens as the options say, or continues `tokens` (batch, steps)."""
        processors = [] if tokens is None else [_Continued(tokens, self.ids.size(1))]
        return self.model.generate(
            self.ids, attention_mask=torch.ones_like(self.ids), max_new_tokens=self.options.new_tokens, do_sample=False,
            pad_token_id=0, cache_implementation=self.options.cache, disable_compile=True,
            logits_processor=LogitsProcessorList(processors), **more)

    def logits(self, tokens=None):
        """Returns what the model says at each step: (steps, batch, vocabulary)."""
        return torch.stack(self.generate(tokens, output_logits=True, return_dict_in_generate=True).logits)


class Contender:
    """A way to compute attention."""

    def __init__(self, name, implementation, within=contextlib.nullcontext):
        self.name, self.implementation, self._within = name, implementation, within

    @contextlib.contextmanager
    def used_by(self, model):
        model.use(self.implementation)
        with self._within():
            yield


def contenders_before(model, note):
    """Returns what there is without the package: what transformers chooses, flash-attn's kernels as PyTorch has them, and
    flash-attn's packages that are installed."""
    found = [Contender(model_figures.DEFAULT, model.usual_attention)]
    if model.device == "cuda" and model.usual_attention == "sdpa":
        found.append(Contender("PyTorch's flash", "sdpa", lambda: sdpa_kernel(SDPBackend.FLASH_ATTENTION)))
    if transformers.utils.is_flash_attn_2_available():
        found.append(Contender("flash-attn 2", "flash_attention_2"))
    peers, missing = peer_kernels.find_peers(torch, ("fa3", "fa4"))
    for name, reason in missing.items():
        note(f"{name} is left out, it is not installed: {reason}")
    for name, peer in peers.items():
        register_attention(name, attention_of_peer(peer))
        found.append(Contender(peer.version, name))
    return found


def attention_of_peer(peer):
    def attention(module, query, key, value, attention_mask, scaling=None, softcap=None, **_):
        if attention_mask is not None or (softcap and "softcap" not in peer.features):
            raise NotImplementedError("a mask" if attention_mask is not None else "a softcap")
        rows = query.size(2)
        q, k, v = (one.transpose(1, 2) for one in (query, key, value))
        keys = rows if rows > 1 else k.size(1)  # a static cache may have empty rows behind a prompt
        inputs = attention_inputs.Inputs(q, k[:, :keys], v[:, :keys], rows > 1, scaling, [keys] * q.size(0),
                                         softcap=softcap or 0.0)
        return peer.make(inputs)(), None

    return attention


# Errors.

class References:
    """Logits of a model whose attention is exact, and of one whose attention is rounded step by step. Both continue the
    same tokens, as everything that is compared with them does."""

    def __init__(self, model, tokens):
        self.tokens = tokens
        self._logits = {}
        for name in (EXACT, ROUNDED):
            model.use(name)
            self._logits[name] = model.logits(tokens)
        difference = self._logits[ROUNDED] - self._logits[EXACT]
        self._rounded, self._rms = _by_phase(difference), _by_phase(difference, _rms)
        self._greatest = _by_phase(self._logits[EXACT])

    def judge(self, logits):
        """Returns the errors of a run's logits with their limits, the root of their mean square as a multiple of the
        rounded reference's, and how many tokens it would choose as well."""
        exact, rounded = (_by_phase(logits - self._logits[name]) for name in (EXACT, ROUNDED))
        rms = _by_phase(logits - self._logits[EXACT], _rms)
        errors = {phase: {"exact": exact[phase], "rounded": rounded[phase]} for phase in exact}
        same = (logits.argmax(-1).T == self.tokens).sum().item()
        return {"phases": model_figures.with_limits(errors, self._rounded, self._greatest),
                "rms_ratio": {phase: value / self._rms[phase] if self._rms[phase] else None for phase, value in rms.items()},
                "same_tokens": same, "tokens": self.tokens.numel()}


def _greatest(values):
    return values.abs().amax().item()


def _rms(values):
    return values.square().mean().sqrt().item()


def _by_phase(values, figure=_greatest):
    figures = dict(zip(model_figures.PHASES, (figure(values[:1]), figure(values[1:]))))
    return {phase: math.inf if math.isnan(value) else value for phase, value in figures.items()}  # a NaN agrees with nothing


# The workload.

def record_workload(model, recorder, file):
    """Records a generation with the attention that transformers chooses. The recorder knows PyTorch's function. Other
    attention is shown to it as calls of flash-attn's, without times, because a reference computes them."""
    if model.usual_attention == "sdpa":
        model.use("sdpa")
        with recorder.record(file):
            model.generate()
        return
    model.use(ROUNDED)
    with recorder.record(file), around_attention(lambda function: _as_flash_attn(recorder, function)):
        model.generate()
    lines = [json.loads(line) for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines()]
    text = "".join(json.dumps({name: value for name, value in line.items() if name != "time_us"}) + "\n" for line in lines)
    pathlib.Path(file).write_text(text, encoding="utf-8")


def _as_flash_attn(recorder, function):
    def attention(module, query, key, value, attention_mask, softcap=None, **options):
        def flash_attn_func(*_, **__):
            return function(module, query, key, value, attention_mask, softcap=softcap, **options)

        if attention_mask is not None:
            return flash_attn_func()
        rows = query.size(2)
        keys = rows if rows > 1 else key.size(2)
        k, v = (one[:, :, :keys].transpose(1, 2) for one in (key, value))
        return recorder.recorded(flash_attn_func)(query.transpose(1, 2), k, v, causal=rows > 1, softcap=softcap or 0.0)

    return attention


# Times.

class AttentionTimer:
    """Times each call of attention between two CUDA events. At each step the GPU waits before the first layer until the
    host has queued the step, so that no event waits for the host. `late` counts the steps for which the wait was too
    short: their times include what the host takes."""

    def __init__(self, model):
        self._model, self._pause = model, peer_rounds.LEAST_PAUSE_CYCLES
        self._hooks = ()
        self.clear()

    def clear(self):
        self.steps, self.late, self._longest_s = [], 0, 0.0

    def __enter__(self):
        first, last = self._model.layers[0], self._model.layers[-1]
        self._hooks = (first.register_forward_pre_hook(self._begin_step), last.register_forward_hook(self._end_step))
        return self

    def __exit__(self, *_):
        for hook in self._hooks:
            hook.remove()
        self._pause = peer_rounds.pause_cycles(self._longest_s)

    def _begin_step(self, *_):
        torch.cuda._sleep(self._pause)
        self._gate = _event()
        self.steps.append([])
        self._began = time.perf_counter()

    def _end_step(self, *_):
        self.late += self._gate.query()
        self._longest_s = max(self._longest_s, time.perf_counter() - self._began)

    def wrap(self, function):
        def timed(*arguments, **options):
            start = _event()
            result = function(*arguments, **options)
            self.steps[-1].append((start, _event()))
            return result

        return timed

    def times_us(self):
        """Returns the microseconds of attention in each step."""
        torch.cuda.synchronize()
        return [sum(start.elapsed_time(end) for start, end in calls) * 1000.0 for calls in self.steps]


def _event():
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def _seconds(model):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    model.generate()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def _one_round(model, timer):
    """Generates twice: as it is, for its seconds, and with the times of attention."""
    seconds = _seconds(model)
    timer.clear()
    with timer, around_attention(timer.wrap):
        model.generate()
    return {"seconds": seconds, "tokens": model.ids.size(0) * model.options.new_tokens, "attention_us": timer.times_us(),
            "late_steps": timer.late}


def time_in_turns(model, contenders, rounds):
    """Returns {name: [figures of a round]}. The first two rounds warm up, and do not count."""
    timers = {one.name: AttentionTimer(model) for one in contenders}
    taken = {one.name: [] for one in contenders}
    for number in range(rounds + 2):
        for one in peer_rounds.in_turn(contenders, number):
            with one.used_by(model):
                taken[one.name].append(_one_round(model, timers[one.name]))
    return {name: figures[2:] for name, figures in taken.items()}


# Who computes calls.

class _OperatorCalls(TorchDispatchMode):
    def __init__(self, namespace):
        super().__init__()
        self._names = {f"{namespace}::forward", f"{namespace}::forward_lse"}
        self.calls = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.name() in self._names:
            self.calls.append(args)
        return function(*args, **(kwargs or {}))


def count_calls(model, package):
    """Generates with the package. Returns the calls of attention, counted as {(phase, (by a kernel, text)): calls}."""
    counts = collections.Counter()

    def wrap(function):
        def counted(module, query, key, value, attention_mask, **options):
            with _OperatorCalls(package.__name__) as seen:
                result = function(module, query, key, value, attention_mask, **options)
            explanation = package._explain.explanation_of(seen.calls[-1]) if seen.calls else None
            refusal = package.explain(query, key, value, attention_mask, enable_gqa=True).reason
            counts[model_figures.PHASES[query.size(2) == 1], model_figures.computed_by(explanation, refusal)] += 1
            return result

        return counted

    with around_attention(wrap):
        model.generate()
    return counts
