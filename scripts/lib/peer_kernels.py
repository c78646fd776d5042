"""Attention kernels of other projects. Each takes Q, K and V as (batch, positions, heads, columns), like its O.

A finder imports what its peer needs. ImportError means that the peer is not installed.
"""
import dataclasses
import functools
import importlib
import importlib.metadata
import math
from typing import Callable

import fatune_program

GEMM_SIZE = 8192
DTYPES = ("FP16", "BF16")
# Packages of FlashAttention-3: {name: (module of its functions, module that says what was built)}.
FLASH3_PACKAGES = {"flash-attn-3": ("flash_attn_interface", "flash_attn_config"),
                   "fa3-fwd": ("fa3_fwd_interface", "fa3_fwd_config")}


@dataclasses.dataclass
class Peer:
    name: str
    version: str
    make: Callable | None  # (q, k, v, causal, scale) -> a function that queues the kernel and returns O
    last_query_sees_last_key: bool  # how a causal mask is aligned, for all lengths
    flop: int | None = None  # of a launch; None: the problem's
    dtypes: tuple = DTYPES  # for which it has kernels
    make_for_lengths: Callable | None = None  # (lengths, then as make): where sequences have different lengths
    # (queries, lengths or None) -> {name: as make}, in place of both: several kernels, of which the fastest counts
    several: Callable | None = None

    def kernels_for(self, problem):
        """Returns {name: as make} of its kernels for a problem."""
        lengths = fatune_program.key_lengths(problem)
        if self.several is not None:
            return {f"{self.name} {kernel}": make for kernel, make in self.several(problem["seq_len"], lengths).items()}
        return {self.name: self.make if lengths is None else functools.partial(self.make_for_lengths, lengths)}


def _heads_first(*tensors):
    return [tensor.transpose(1, 2) for tensor in tensors]


def _find_fa2(torch):
    # PyTorch's flash backend, without the layers of Python and dispatch above it.
    def make(q, k, v, causal, scale):
        q, k, v = _heads_first(q, k, v)
        call = torch.ops.aten._scaled_dot_product_flash_attention.default

        def launch():
            return call(q, k, v, 0.0, causal, scale=scale)[0].transpose(1, 2)

        return launch

    # PyTorch's own causal_lower_right() calls this function, too, with its mask for equal lengths.
    return Peer("fa2", f"PyTorch {torch.__version__}", make, True)


def _find_cudnn(torch):
    if not torch.backends.cudnn.is_available():
        raise ImportError("PyTorch has no cuDNN here")

    def make(q, k, v, causal, scale):
        q, k, v = _heads_first(q, k, v)
        call = torch.ops.aten._scaled_dot_product_cudnn_attention.default
        mask = _mask_from_the_end(torch, q, k) if causal and q.shape[2] != k.shape[2] else None

        def launch():
            return call(q, k, v, mask, False, 0.0, causal and mask is None, scale=scale)[0].transpose(1, 2)

        return launch

    return Peer("cudnn", str(torch.backends.cudnn.version()), make, True)


def _mask_from_the_end(torch, q, k):
    """Returns what is added to scores. PyTorch's own causal mask for cuDNN begins at the first key."""
    queries, keys = q.shape[2], k.shape[2]
    return torch.full((queries, keys), -math.inf, dtype=q.dtype, device=q.device).triu(keys - queries + 1)


def _find_triton(_torch):
    import triton
    import triton_attention

    return Peer("triton", triton.__version__, triton_attention.make, True)


def _output_in(result):
    return result[0] if isinstance(result, tuple) else result


def _flash_attention(name, version, function, dtypes=DTYPES, **settings):
    def make(q, k, v, causal, scale):
        def launch():
            return _output_in(function(q, k, v, softmax_scale=scale, causal=causal, **settings))

        return launch

    return Peer(name, version, make, True, dtypes=dtypes)


def _flash3_dtypes(config_name):
    try:
        flags = importlib.import_module(config_name).CONFIG["build_flags"]
    except (ImportError, AttributeError, KeyError):
        return DTYPES
    return ("BF16",) if flags.get("FLASHATTENTION_DISABLE_FP16") else DTYPES


def _installed_version(package):
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return package


def _flash3_for_lengths(torch, function):
    """Returns Peer.make_for_lengths with FlashAttention-3's function for caches, or None without it."""
    if function is None:
        return None

    def make(lengths, q, k, v, causal, scale):
        keys = torch.tensor(lengths, dtype=torch.int32, device=q.device)

        def launch():
            return _output_in(function(q, k, v, cache_seqlens=keys, softmax_scale=scale, causal=causal, num_splits=0))

        return launch

    return make


def _find_fa3(torch):
    reasons = []
    for package, (interface, config) in FLASH3_PACKAGES.items():
        try:
            module = importlib.import_module(interface)
            function = module.flash_attn_func
        except (ImportError, AttributeError, OSError) as error:
            reasons.append(str(error))
            continue
        # With 0 it decides by itself how often to split the keys; by default it does not.
        peer = _flash_attention("fa3", _installed_version(package), function, _flash3_dtypes(config), num_splits=0)
        peer.make_for_lengths = _flash3_for_lengths(torch, getattr(module, "flash_attn_with_kvcache", None))
        return peer
    raise ImportError("; ".join(reasons))


def _flash4_for_lengths(torch, function):
    """Returns Peer.make_for_lengths with FlashAttention-4's function for varying lengths, or None without it."""
    if function is None:
        return None

    def make(lengths, q, k, v, causal, scale):
        keys = torch.tensor(lengths, dtype=torch.int32, device=q.device)

        def launch():
            return _output_in(function(q, k, v, seqused_k=keys, softmax_scale=scale, causal=causal))

        return launch

    return make


def _find_fa4(torch):
    module = importlib.import_module("flash_attn.cute")
    if not hasattr(module, "flash_attn_func"):
        module = importlib.import_module("flash_attn.cute.interface")
    peer = _flash_attention("fa4", str(getattr(module, "__version__", "?")), module.flash_attn_func)
    peer.make_for_lengths = _flash4_for_lengths(torch, getattr(module, "flash_attn_varlen_func", None))
    return peer


def _find_flashinfer(torch):
    import flashinfer
    import flashinfer_attention

    return Peer("flashinfer", flashinfer.__version__, None, True,
                several=functools.partial(flashinfer_attention.kernels, torch, flashinfer))


def finder_of_libraries(folder):
    """Returns a finder of fa4 in a folder of kernels that were compiled ahead of time."""

    def find(torch):
        import flash4_kernels

        kernels = flash4_kernels.Folder(folder, torch)
        return Peer("fa4", kernels.version, kernels.make, True, make_for_lengths=kernels.make_for_lengths)

    return find


def _find_gemm(torch):
    # Not attention: the rate that the tensor cores sustain, for comparison.
    def make(q, _k, _v, _causal, _scale):
        a, b = (torch.randn(GEMM_SIZE, GEMM_SIZE, dtype=torch.bfloat16, device=q.device) for _ in range(2))
        product = torch.empty_like(a)

        def launch():
            torch.mm(a, b, out=product)

        return launch

    return Peer("gemm", f"PyTorch {torch.__version__}", make, True, flop=2 * GEMM_SIZE**3)


FINDERS = {"fa2": _find_fa2, "cudnn": _find_cudnn, "triton": _find_triton, "fa3": _find_fa3, "fa4": _find_fa4,
           "flashinfer": _find_flashinfer, "gemm": _find_gemm}
DEFAULT_PEERS = tuple(name for name in FINDERS if name not in ("flashinfer", "gemm"))
DECODE_PEERS = ("fa2", "cudnn", "fa3", "fa4", "flashinfer")


def find_peers(torch, names, finders=FINDERS):
    """Returns ({name: Peer}, {name: why it is missing})."""
    peers, missing = {}, {}
    for name in names:
        try:
            peers[name] = finders[name](torch)
        except (ImportError, AttributeError, OSError) as error:
            missing[name] = str(error)
    return peers, missing


def is_masked(problem):
    """Whether there is a causal mask that hides a key: one query sees all keys."""
    return problem["causal"] and problem["seq_len"] > 1


def cannot_do(peer, problem):
    """Returns why a peer is not timed on a problem, or None if it is."""
    if problem["dtype"] not in peer.dtypes:
        return f"no {problem['dtype']}"
    if problem.get("seq_lens"):
        return "no packed batches"
    for feature in ("window", "softcap", "sinks"):
        if problem.get(feature, 0):
            return f"no {feature}"
    if problem.get("d_head_v", problem["d_head"]) != problem["d_head"]:
        return "one head dimension"
    if problem.get(fatune_program.KEY_LENGTHS) and not (peer.several or peer.make_for_lengths):
        return "one length for all sequences"
    if problem.get("page_size", 0):
        return "contiguous K and V"
    lengths_differ = problem.get("seq_len_kv", problem["seq_len"]) != problem["seq_len"]
    if is_masked(problem) and lengths_differ and not peer.last_query_sees_last_key:
        return "another causal mask where lengths differ"
    return None
