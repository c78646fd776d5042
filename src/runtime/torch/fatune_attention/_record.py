"""Records which attention problems a program calls, how often, and how long they take: a workload file for
`fatune sweep --workload` (docs/workload.md). This file needs nothing but PyTorch.

As a module of its own, `fatune_record.py`, it records PyTorch's scaled_dot_product_attention and flash-attn's functions:

    python3 fatune_record.py --out calls.jsonl program.py arguments  # or -m module; the program stays as it is
    with fatune_record.record("calls.jsonl"): ...                    # a part of a program

In a package that `fatune export --to torch` wrote, it records the package's functions. FATUNE_ATTENTION_RECORD=FILE
records from the import of the module or package to the end of each process, to FILE.<host>.<process id>.
"""
import argparse
import atexit
import contextlib
import functools
import json
import os
import pathlib
import platform
import runpy
import statistics
import sys
import threading
import time
import warnings
from multiprocessing import util as multiprocessing_util

import torch

ENVIRONMENT = "FATUNE_ATTENTION_RECORD"
MOST_PROBLEMS = 4096
FEW_QUERIES = 16  # of decoding: its numbers of queries are different kinds
MOST_EXACT = 16  # lengths of one kind of calls; if there are more, all are rounded
MOST_LISTED = 64  # sequences whose lengths are a list
MOST_TIMES = 32  # of a problem
MOST_PENDING = 64  # samples that the GPU has not come to yet
FIRST_TIMED = 8  # earlier calls load kernels
SECONDS_OF_A_FILE = 60  # after which it is written again, so that a killed process leaves one
MOST_ROWS = 1 << 24  # of a sequence, and of a packed batch: fatune's limit
UNKNOWN = "with arguments that the recorder does not know"
DTYPES = {torch.float16: "FP16", torch.bfloat16: "BF16"}
KV_DTYPES = {torch.float8_e4m3fn: "E4M3", torch.float8_e5m2: "E5M2"}  # with scales
# The members of a kind of calls, in their order. Calls of a kind differ in their lengths alone.
KIND = ("dtype", "batch", "heads", "kv_heads", "d_head", "d_head_v", "causal", "window", "lse", "softcap", "sinks",
        "page_size", "is_packed", "kv_dtype", "kv_scales")
IS_PACKED = KIND.index("is_packed")


class _NotRecorded(Exception):
    """Says why a workload cannot have the call."""


# What a call is: from its arguments to its kind and lengths.

def kernel_mask(causal, window_size):
    """Returns flash-attn's mask as the kernels' (causal, window), or None if they have no such mask."""
    left, right = (-1 if one is None else one for one in window_size)
    if causal or right == 0:
        return True, 0 if left < 0 else left + 1
    if left < 0 and right < 0:
        return False, 0
    return (False, left + 1) if left == right else None


def _kind_of_scales(k, kv_heads, page_size, descale):
    """Returns the names of the type of K and V of 8 bits, and of what shares a scale; None: they have no scales."""
    if k.dtype not in KV_DTYPES or descale is None:
        return None, None
    shape = tuple(size for size, stride in zip(descale.shape, descale.stride()) if stride and size > 1)
    if shape == ():
        scales = "tensor"
    elif shape == (kv_heads,) and descale.shape[-1] == kv_heads:
        scales = "head"
    else:
        scales = "page" if page_size and descale.dim() == 2 else "token"
    return KV_DTYPES[k.dtype], scales


class _Call:
    """A call's kind, its queries and keys, and the tensors of int32 that say more about lengths: those of cached keys, to
    which `appended` are added, or where the sequences of a packed batch begin."""
    __slots__ = ("kind", "queries", "keys", "tensors", "appended", "device")

    def __init__(self, q, k, v, batch, heads, kv_heads, queries, keys, mask, dtype=None, dropout=0.0, alibi=None,
                 lse=False, softcap=0.0, sinks=None, page_size=0, is_packed=False, tensors=(), appended=0, descale=None):
        if (q.requires_grad or k.requires_grad or v.requires_grad) and torch.is_grad_enabled():
            raise _NotRecorded("with gradients")
        if dropout:
            raise _NotRecorded("with dropout")
        if alibi is not None:
            raise _NotRecorded("with alibi_slopes")
        if mask is None:
            raise _NotRecorded("with a window_size whose sides differ")
        causal, window = mask
        self.kind = (dtype or q.dtype, batch, heads, kv_heads, q.shape[-1], v.shape[-1], causal and queries > 1,
                     min(window, MOST_ROWS), lse, softcap, sinks is not None, page_size, is_packed,
                     *_kind_of_scales(k, kv_heads, page_size, descale))
        self.queries, self.keys, self.tensors, self.appended = queries, keys, tensors, appended
        self.device = q.device if q.is_cuda else None

    def check(self):
        """Raises _NotRecorded unless there is such a problem."""
        dtype, batch, heads, kv_heads, d_head, d_head_v, *_, page_size, _, _, _ = self.kind
        if dtype not in DTYPES:
            raise _NotRecorded(f"of {dtype}")
        if page_size > 256 or page_size & (page_size - 1):
            raise _NotRecorded(f"with pages of {page_size} keys")
        sizes = (batch, heads, kv_heads, self.queries, self.keys, d_head, d_head_v)
        if min(sizes) < 1 or heads % kv_heads or max(d_head, d_head_v) > 1024 or \
                max(batch, heads) > 65535 or max(self.queries, self.keys) > MOST_ROWS:
            raise _NotRecorded("of shapes that are no problem's")


def _autocast_dtype(tensor):
    """Returns the type that torch.autocast casts the operands to, or None."""
    device = "cuda" if tensor.is_cuda else "cpu"
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None


def _of_sdpa(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if query.is_nested:
        raise _NotRecorded("of nested tensors")
    q, k = query.shape, key.shape
    if len(q) != 4 or len(k) != 4 or k[0] != q[0]:
        raise _NotRecorded("of shapes that are no problem's")
    if attn_mask is not None:
        raise _NotRecorded("with attn_mask")
    if is_causal and q[2] != k[2]:
        raise _NotRecorded("with is_causal and other numbers of queries than of keys")
    dtype = _autocast_dtype(query) if query.dtype == torch.float32 else None
    return _Call(query, key, value, q[0], q[1], k[1], q[2], k[2], (is_causal, 0), dtype, dropout_p)


def _of_flash_attn(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
                   alibi_slopes=None, deterministic=False, return_attn_probs=False, learnable_sink=None, k_descale=None,
                   v_descale=None):
    return _Call(q, k, v, batch=q.shape[0], heads=q.shape[2], kv_heads=k.shape[2], queries=q.shape[1], keys=k.shape[1],
                 mask=kernel_mask(causal, window_size), dropout=dropout_p, alibi=alibi_slopes, lse=return_attn_probs,
                 softcap=softcap, sinks=learnable_sink, descale=k_descale)


def _of_varlen(q, k, v, cu_seqlens_q, cu_seqlens_k=None, max_seqlen_q=None, max_seqlen_k=None, dropout_p=0.0,
               softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0, alibi_slopes=None, deterministic=False,
               return_attn_probs=False, block_table=None, learnable_sink=None, seqused_k=None, k_descale=None,
               v_descale=None):
    page_size = 0 if block_table is None else k.shape[1]
    batch = cu_seqlens_q.shape[0] - 1
    one_query = block_table is not None and max_seqlen_q == 1 and q.shape[0] == batch  # decoding
    keys = block_table.shape[1] * page_size if one_query else max_seqlen_k
    return _Call(q, k, v, batch=batch, heads=q.shape[1], kv_heads=k.shape[-2], queries=int(max_seqlen_q), keys=int(keys),
                 mask=kernel_mask(causal, window_size), dropout=dropout_p, alibi=alibi_slopes, lse=return_attn_probs,
                 softcap=softcap, sinks=learnable_sink, page_size=page_size, is_packed=not one_query, descale=k_descale,
                 tensors=(cu_seqlens_q, cu_seqlens_k if seqused_k is None else seqused_k))


def _of_kvcache(q, k_cache, v_cache, k=None, v=None, rotary_cos=None, rotary_sin=None, cache_seqlens=None,
                cache_batch_idx=None, cache_leftpad=None, block_table=None, softmax_scale=None, causal=False,
                window_size=(-1, -1), softcap=0.0, rotary_interleaved=True, alibi_slopes=None, num_splits=0,
                return_softmax_lse=False, learnable_sink=None, k_descale=None, v_descale=None):
    if cache_leftpad is not None:
        raise _NotRecorded("with cache_leftpad")
    page_size = 0 if block_table is None else k_cache.shape[1]
    keys = block_table.shape[1] * page_size if page_size else k_cache.shape[1]
    appended = 0 if k is None else k.shape[1]
    is_tensor = isinstance(cache_seqlens, torch.Tensor)
    if cache_seqlens is not None and not is_tensor:
        keys = cache_seqlens + appended
    return _Call(q, k_cache, v_cache, batch=q.shape[0], heads=q.shape[2], kv_heads=k_cache.shape[2], queries=q.shape[1],
                 keys=keys, mask=kernel_mask(causal, window_size), alibi=alibi_slopes, lse=return_softmax_lse,
                 softcap=softcap, sinks=learnable_sink, page_size=page_size, descale=k_descale,
                 tensors=(cache_seqlens,) if is_tensor else (), appended=appended)


_CALLS = {"scaled_dot_product_attention": _of_sdpa, "flash_attn_func": _of_flash_attn,
          "flash_attn_varlen_func": _of_varlen, "flash_attn_with_kvcache": _of_kvcache}


# What a file says of lengths.

def rounded(length):
    """Returns the nearest number with two significant bits (64, 96, 128, 192, ...), or up to 64 the length itself."""
    if length <= 64:
        return length
    step = 1 << (length.bit_length() - 2)
    return (length + step // 2) // step * step


def _text(lengths):
    """Returns lengths of sequences as a workload has them: the range of many. Those of a batch come in any order."""
    if len(lengths) <= MOST_LISTED:
        return ",".join(map(str, lengths))
    return f"uniform:{min(lengths)}-{min(max(lengths), MOST_ROWS // len(lengths))}:0"


def _texts(call, values):
    """Returns the texts of the lengths of queries and of keys, from the tensors' values; None: they are no problem's."""
    batch = call.kind[1]
    lengths = [[rounded(end - first) for first, end in zip(one, one[1:])] if len(one) > batch else
               [rounded(length + call.appended) for length in one] for one in values]
    queries, keys = lengths[0], lengths[-1]
    if min(queries + keys) < 0:
        return None
    if not call.kind[IS_PACKED]:
        return "", _text(sorted((min(one, call.keys) for one in keys), reverse=True))
    if not 0 < sum(queries) <= MOST_ROWS or not 0 < sum(keys) <= MOST_ROWS:
        return None
    queries, keys = zip(*sorted(zip(queries, keys), reverse=True))
    return _text(queries), _text(keys)


def _greatest(text):
    return int(text.split("-")[1].split(":")[0]) if ":" in text else max(map(int, text.split(",")))


def _members(kind, queries, keys, texts):
    """Returns the members of a line of the file, without those that are usual."""
    of = dict(zip(KIND, kind))
    of["dtype"] = DTYPES[of["dtype"]]
    lens, lens_kv = texts or ("", "")
    if of["is_packed"]:
        most = MOST_ROWS // of["batch"]
        lens, lens_kv = texts or tuple(f"uniform:{one}-{one}:0" for one in (min(queries, most), min(keys, most)))
        queries, keys = max(1, _greatest(lens)), max(1, _greatest(lens_kv))
        keys, lens_kv = (queries, "") if lens == lens_kv else (keys, lens_kv)
    line = {"dtype": of["dtype"], "batch": of["batch"], "seq_len": queries, "heads": of["heads"], "d_head": of["d_head"],
            "causal": of["causal"]}
    details = {"seq_len_kv": (keys, queries), "kv_heads": (of["kv_heads"], of["heads"]),
               "d_head_v": (of["d_head_v"], of["d_head"]), "seq_lens": (lens, ""), "seq_lens_kv": (lens_kv, "")}
    details.update((name, (of[name], 0)) for name in ("window", "lse", "softcap", "sinks", "page_size"))
    details["kv_dtype"] = (of["kv_dtype"], None)
    details["kv_scales"] = (of["kv_scales"], "tensor" if of["kv_scales"] else None)
    return line | {name: value for name, (value, usual) in details.items() if value != usual}


# Counts and samples.

class _Problem:
    """The calls of a problem. If tensors say their lengths, samples share them out by what they read."""
    __slots__ = ("calls", "next_sample", "unread", "times_us", "parts", "last_part")

    def __init__(self, has_tensors=False):
        self.calls = self.unread = 0
        self.next_sample = 1 if has_tensors else FIRST_TIMED
        self.times_us, self.parts, self.last_part = [], {}, None

    def is_due(self, has_tensors):
        """Counts a call, and returns whether to sample it: calls 8, 16, 32, ...; of lengths in tensors, which change from
        call to call, also 1, 2 and 4, and from 256 on every 251st."""
        self.calls += 1
        self.unread += 1
        if self.calls < self.next_sample:
            return False
        self.next_sample = self.calls + (min(self.calls, 251) if has_tensors else self.calls)
        return True

    def shares(self):
        """Returns (texts of lengths, calls, times) of each part. Calls since the last sample are like it."""
        rest = self.calls - sum(part.calls for part in self.parts.values())
        if not self.parts:
            return [(None, rest, self.times_us)]
        return [(texts, part.calls + (rest if part is self.last_part else 0), part.times_us)
                for texts, part in self.parts.items()]


class _Sample:
    """What is measured of a call. CUDA events and copies on the call's stream are read when the GPU has come to them."""

    def __init__(self, call, problem):
        self.call, self.problem = call, problem
        self.calls, problem.unread = problem.unread, 0
        self.is_timed = call.device is not None and problem.calls >= FIRST_TIMED
        self.start = self._event() if self.is_timed else None
        self.end = self.copied = None
        self.values = []

    def _event(self):
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self.call.device))
        return event

    def finish(self):
        """Ends the sample behind the call. Returns whether that was possible."""
        try:
            if self.is_timed:
                self.end = self._event()
            self.values = [self._on_host(tensor) for tensor in self.call.tensors]
            self.copied = self._event() if any(tensor.is_cuda for tensor in self.call.tensors) else self.end
        except RuntimeError:
            return False
        return True

    def _on_host(self, tensor):
        if not tensor.is_cuda:
            return tensor.clone()
        return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(tensor, non_blocking=True)

    def is_done(self):
        return self.copied is None or self.copied.query()

    def texts(self):
        return _texts(self.call, [one.tolist() for one in self.values]) if self.call.tensors else None

    def time_us(self):
        return self.start.elapsed_time(self.end) * 1000.0 if self.is_timed else None


def _begin_sample(call, problem):
    """Returns a sample, or None if nothing can be measured: in the capture of a CUDA graph, of tensors without data."""
    try:
        if call.device is None or not torch.cuda.is_current_stream_capturing():
            return _Sample(call, problem)
    except RuntimeError:
        pass
    return None


class _Kind:
    """The problems of calls that differ in their lengths alone."""

    def __init__(self):
        self.exact, self.rounded = {}, {}


class _Recorder:
    """The calls of a process, and the file that they are written to."""

    def __init__(self, file, is_per_process):
        self.shared = pathlib.Path(os.path.abspath(file))
        if not self.shared.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.shared.parent} for the recorded calls")
        self.reset(is_per_process)

    def reset(self, is_per_process=True):
        """Forgets all calls. A process that was forked does so, and writes a file of its own."""
        self.file = self.shared
        if is_per_process:
            self.file = self.shared.with_name(f"{self.shared.name}.{platform.node()}.{os.getpid()}")
        self.of_parent = getattr(self, "pending", None)  # a child may not destroy its parent's events
        self.lock = threading.Lock()
        self.kinds, self.others, self.pending = {}, {}, []
        self.problems = self.calls = 0
        self.has_ended = False
        self.next_write = time.monotonic() + SECONDS_OF_A_FILE

    def _find(self, call):
        """Returns the problem that counts the call. Raises _NotRecorded if there is none."""
        key = (call.kind, call.queries if call.queries <= FEW_QUERIES else 0, bool(call.tensors))
        kind = self.kinds.get(key) or _Kind()
        lengths, problems = (call.queries, call.keys), kind.exact
        if call.kind[IS_PACKED]:
            lengths = tuple(map(rounded, lengths))  # samples say more
        if lengths not in problems and len(problems) >= MOST_EXACT:
            lengths, problems = tuple(map(rounded, lengths)), kind.rounded
        if lengths not in problems:
            call.check()
            if self.problems >= MOST_PROBLEMS:
                raise _NotRecorded(f"of other problems than the first {MOST_PROBLEMS}")
            self.problems += 1
            self.kinds[key] = kind
            problems[lengths] = _Problem(bool(call.tensors))
        return problems[lengths]

    def _count_other(self, reason, calls=1):
        self.others[reason] = self.others.get(reason, 0) + calls

    def begin(self, call):
        """Counts a call, or why it is not recorded, before it is made. Returns what counts it, and a sample or None."""
        with self.lock:
            self.calls += 1
            try:
                problem = call if isinstance(call, str) else self._find(call)
            except _NotRecorded as why:
                problem = str(why)
            except Exception:
                problem = UNKNOWN
            if isinstance(problem, str):
                self._count_other(problem)
                return problem, None
            if not problem.is_due(bool(call.tensors)) or len(self.pending) >= MOST_PENDING:
                return problem, None
            return problem, _begin_sample(call, problem)

    def end(self, sample):
        if sample is not None and sample.finish():
            with self.lock:
                self.pending.append(sample)
                self._read_samples()
        if self.calls % 1024 == 0 and time.monotonic() > self.next_write:
            self.write()

    def take_back(self, problem):
        """Forgets a call that failed."""
        with self.lock:
            self.calls -= 1
            if isinstance(problem, str):
                self._count_other(problem, -1)
            else:
                problem.calls -= 1

    def _read_samples(self):
        waiting = []
        for sample in self.pending:
            with contextlib.suppress(Exception):  # an error of CUDA, or values that are no lengths: there is no sample
                if sample.is_done():
                    self._read(sample)
                else:
                    waiting.append(sample)
        self.pending = waiting

    def _read(self, sample):
        problem = sample.problem
        texts = sample.texts()
        if texts is not None:
            part = problem.parts.get(texts)
            if part is None and self.problems < MOST_PROBLEMS:
                self.problems += 1
                part = problem.parts[texts] = _Problem()
            if part is None:
                return  # shares() counts its calls
            part.calls += sample.calls
            problem.last_part = problem = part
        time_us = sample.time_us()
        if time_us is not None and len(problem.times_us) < MOST_TIMES:
            problem.times_us.append(time_us)

    def _lines(self):
        """Returns the lines of the file. Exact lengths of a kind that has too many are rounded with the others."""
        totals = {}
        for (kind, *_), of in self.kinds.items():
            for lengths, problem in [*of.exact.items(), *of.rounded.items()]:
                queries, keys = map(rounded, lengths) if of.rounded else lengths
                for texts, calls, times in problem.shares():
                    members = _members(kind, queries, keys, texts)
                    total = totals.setdefault(json.dumps(members), [members, 0, []])
                    total[1] += calls
                    total[2] += times
        return [members | {"calls": calls} | ({"time_us": round(statistics.median(times), 3)} if times else {})
                for members, calls, times in totals.values() if calls > 0]

    def write(self):
        """Writes the file anew, at once as a whole. Does nothing if there is no call."""
        with self.lock:
            self._read_samples()
            text = "".join(json.dumps(line) + "\n" for line in self._lines())
            self.next_write = time.monotonic() + SECONDS_OF_A_FILE
        if text:
            unfinished = self.file.with_name(f".{self.file.name}.{os.getpid()}.{threading.get_ident()}")
            try:
                unfinished.write_text(text, encoding="utf-8")
                os.replace(unfinished, self.file)
            except OSError as error:
                warnings.warn(f"the recorded calls of attention are not written: {error}")

    def finish(self):
        """Writes the file a last time, and says what is not in it."""
        if self.has_ended:
            return
        self.has_ended = True
        self.write()
        others = [f"{calls} {reason}" for reason, calls in sorted(self.others.items()) if calls]
        if others:
            warnings.warn(f"calls of attention that are not in {self.file}: {', '.join(others)}")


# Recording.

_is_on = False
_recorders = ()
_replaced = []  # what names had before: (namespace, name, function)
_changing = threading.RLock()


class _Here(threading.local):
    is_inside = False  # of a call that is recorded already


_here = _Here()


def _call(function, what, arguments, options):
    if _here.is_inside:
        return function(*arguments, **options)
    try:
        call = what(*arguments, **options)
    except _NotRecorded as why:
        call = str(why)
    except Exception:  # the function itself says what is wrong with them
        call = UNKNOWN
    recorders, counted = _recorders, []
    _here.is_inside = True
    try:
        counted += [(one, *one.begin(call)) for one in recorders]
        result = function(*arguments, **options)
    except BaseException:
        for recorder, problem, _ in counted:
            recorder.take_back(problem)
        raise
    finally:
        _here.is_inside = False
    for recorder, _, sample in counted:
        recorder.end(sample)
    return result


def _say_compiled():
    warnings.warn("attention in code that torch.compile compiled is not recorded; TORCH_COMPILE_DISABLE=1 runs it "
                  "without compiling")


_say_compiled._dynamo_marked_constant = True  # called once, while a function is compiled, without breaking its graph


def recorded(function):
    """Returns the function with its calls recorded while a recording is in force. It is known by its name."""
    what = _CALLS[function.__name__]

    @functools.wraps(function)
    def call(*arguments, **options):
        if not _is_on:
            return function(*arguments, **options)
        if torch.compiler.is_compiling():
            _say_compiled()
            return function(*arguments, **options)
        return _call(function, what, arguments, options)

    return call


_recorded_once = functools.cache(recorded)


def _functions():
    """Returns the functions of other packages to record: PyTorch's, and those of flash-attn if it is imported. A package
    of fatune's has its own functions recorded in their place."""
    if __package__:
        return []
    owners = [(torch.nn.functional, "scaled_dot_product_attention")]
    owners += [(sys.modules.get("flash_attn"), name) for name in _CALLS]
    return [getattr(owner, name) for owner, name in owners if hasattr(owner, name)]


def _replace():
    """Has each module that has one of the functions have the recorded one under the same name, but for PyTorch's own
    modules, whose tables name functions."""
    functions = {id(one): one for one in _functions()}
    for place, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None)
        if isinstance(names, dict) and (place == "torch.nn.functional" or place.split(".")[0] != "torch"):
            for name in [name for name, value in list(names.items()) if id(value) in functions]:
                _replaced.append((names, name, names[name]))
                names[name] = _recorded_once(names[name])


def _restore():
    """Gives all names back, but those that have become something else since."""
    while _replaced:
        names, name, function = _replaced.pop()
        if names.get(name) is _recorded_once(function):
            names[name] = function


def _set_recorders(recorders):
    global _recorders, _is_on
    with _changing:
        if recorders and not _recorders:
            _replace()
        if _recorders and not recorders:
            _restore()
        _recorders, _is_on = recorders, bool(recorders)


def _finish_all():
    for recorder in _recorders:
        recorder.finish()


def _finish_at_exit(*_):
    multiprocessing_util.Finalize(None, _finish_all, exitpriority=0)  # its processes do not call what atexit has


def _forget_in_child():
    _here.is_inside = False
    for recorder in _recorders:
        recorder.reset()


@functools.cache
def _watch_processes():
    atexit.register(_finish_all)
    _finish_at_exit()
    os.register_at_fork(after_in_child=_forget_in_child)
    multiprocessing_util.register_after_fork(_finish_at_exit, _finish_at_exit)


def _start(recorder):
    _watch_processes()
    with _changing:
        _set_recorders((*_recorders, recorder))


@contextlib.contextmanager
def record(file):
    """Records the calls within `with record(file):`, of all threads, and writes them to the file at its end, even after an
    exception. Processes that are forked within write FILE.<host>.<process id>."""
    recorder = _Recorder(file, is_per_process=False)
    _start(recorder)
    try:
        yield
    finally:
        with _changing:
            _set_recorders(tuple(one for one in _recorders if one is not recorder))
        recorder.finish()


def start_from_environment():
    """Records to the end of the process if FATUNE_ATTENTION_RECORD says so."""
    if os.environ.get(ENVIRONMENT):
        _start(_Recorder(os.environ[ENVIRONMENT], is_per_process=True))


def _run(arguments):
    """Runs a program as python3 does, and records its calls."""
    sys.modules.setdefault("fatune_record", sys.modules[__name__])  # for a program that imports it
    with contextlib.suppress(ImportError):
        import flash_attn  # noqa: F401, so that its functions are there to be replaced
    sys.argv = [arguments.program, *arguments.arguments]
    with record(arguments.out):
        if arguments.module:
            sys.path[0] = os.getcwd()
            runpy.run_module(arguments.program, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(arguments.program))
            runpy.run_path(arguments.program, run_name="__main__")


def _main():
    parser = argparse.ArgumentParser(description="Runs a Python program and records which attention problems it calls.")
    parser.add_argument("--out", required=True, metavar="FILE", help="the workload file to write")
    parser.add_argument("-m", dest="module", action="store_true", help="the program is the name of a module")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    _run(parser.parse_args())


if __name__ == "__main__":
    _main()
elif not __package__:
    start_from_environment()
