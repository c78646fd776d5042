"""Attention kernels of other projects. Each takes attention_inputs.Inputs; its O has the shape of Q, with V's columns.

A finder imports what its peer needs. ImportError means that the peer is not installed.
"""
import dataclasses
import functools
import importlib
import importlib.metadata
import math
from typing import Callable

import attention_inputs
import cudnn_attention
import fatune_program

GEMM_SIZE = 8192
DTYPES = ("FP16", "BF16")
E4M3 = "E4M3"  # Q, K and V of 8 bits
# Packages of FlashAttention-3: {name: (module of its functions, module that says what was built)}.
FLASH3_PACKAGES = {"flash-attn-3": ("flash_attn_interface", "flash_attn_config"),
                   "fa3-fwd": ("fa3_fwd_interface", "fa3_fwd_config")}


@dataclasses.dataclass
class Peer:
    name: str
    version: str
    make: Callable | None  # Inputs -> a function that queues the kernel and returns O
    flop: int | None = None  # of a launch; None: the problem's
    dtypes: tuple = DTYPES  # for which it has kernels
    features: frozenset = frozenset()  # of attention_inputs.FEATURES
    # Inputs -> {name: as make}, in place of make: several kernels, of which the fastest counts
    several: Callable | None = None
    # Inputs -> what O is multiplied by, or None: what the kernel leaves to the layer behind it
    output_scale: Callable = lambda inputs: None

    def kernels_for(self, inputs):
        """Returns {name: as make} of its kernels."""
        if self.several is not None:
            return {f"{self.name} {kernel}": make for kernel, make in self.several(inputs).items()}
        return {self.name: self.make}


def _heads_first(*tensors):
    return [tensor.transpose(1, 2) for tensor in tensors]


def _ends(inputs):
    """Returns the arguments of PyTorch's and Tri Dao's functions that say where sequences of a packed batch end."""
    return inputs.cu_queries, inputs.cu_keys, max(inputs.queries), max(inputs.keys)


def _packed(inputs):
    return inputs.q[0], inputs.k[0], inputs.v[0]


def _find_fa2(torch):
    # PyTorch's flash backend, without the layers of Python and dispatch above it.
    def make(inputs):
        if inputs.is_packed or inputs.window:
            return with_ends_or_window(inputs)
        q, k, v = _heads_first(inputs.q, inputs.k, inputs.v)
        call = torch.ops.aten._scaled_dot_product_flash_attention.default
        return lambda: call(q, k, v, 0.0, inputs.causal, scale=inputs.scale)[0].transpose(1, 2)

    def with_ends_or_window(inputs):
        q, k, v = _packed(inputs) if inputs.is_packed else (inputs.q, inputs.k, inputs.v)
        ends = _ends(inputs) if inputs.is_packed else (None, None, q.shape[1], k.shape[1])
        window = {"window_size_left": inputs.window - 1, "window_size_right": 0} if inputs.window else {}
        call = torch.ops.aten._flash_attention_forward.default
        return lambda: call(q, k, v, *ends, 0.0, inputs.causal, False, scale=inputs.scale, **window)[0]

    # PyTorch's own causal_lower_right() calls this function, too, with its mask for equal lengths.
    return Peer("fa2", f"PyTorch {torch.__version__}", make, features=frozenset({"packed", "window"}))


def _find_cudnn(torch):
    if not torch.backends.cudnn.is_available():
        raise ImportError("PyTorch has no cuDNN here")
    frontend = _optional("cudnn")  # PyTorch has no function for 8 bits

    def make(inputs):
        if inputs.q_scales is not None:
            return cudnn_attention.make(torch, frontend, inputs)
        q, k, v = _heads_first(inputs.q, inputs.k, inputs.v)
        call = torch.ops.aten._scaled_dot_product_cudnn_attention.default
        mask = _mask_from_the_end(torch, q, k) if inputs.causal and q.shape[2] != k.shape[2] else None
        causal = inputs.causal and mask is None
        return lambda: call(q, k, v, mask, False, 0.0, causal, scale=inputs.scale)[0].transpose(1, 2)

    version = str(torch.backends.cudnn.version())
    if frontend is None:
        return Peer("cudnn", version, make, features=frozenset({"two_dims"}))
    # PyTorch's own function for packed batches spends most of its time on the host at each call.
    return Peer("cudnn", f"{version}, frontend {frontend.__version__}", make, dtypes=(*DTYPES, E4M3),
                features=frozenset({"two_dims"}), output_scale=cudnn_attention.output_scale)


def _optional(module):
    try:
        return importlib.import_module(module)
    except (ImportError, OSError):
        return None


def _mask_from_the_end(torch, q, k):
    """Returns what is added to scores. PyTorch's own causal mask for cuDNN begins at the first key."""
    queries, keys = q.shape[2], k.shape[2]
    return torch.full((queries, keys), -math.inf, dtype=q.dtype, device=q.device).triu(keys - queries + 1)


def _find_triton(_torch):
    import triton
    import triton_attention

    return Peer("triton", triton.__version__, triton_attention.make, dtypes=(*DTYPES, E4M3),
                features=frozenset({"head_scales"}))


def _output_in(result):
    return result[0] if isinstance(result, tuple) else result


def _calling(function, *tensors, **settings):
    return lambda: _output_in(function(*tensors, **settings))


def _installed_version(package):
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return package


def _flash3_flags(config_name):
    try:
        return importlib.import_module(config_name).CONFIG["build_flags"]
    except (ImportError, AttributeError, KeyError):
        return {}


def _flash3_features(module, flags):
    """Returns the features of a build. flags: its own, which say what was left out"""
    left_out = {"window": "FLASHATTENTION_DISABLE_LOCAL", "softcap": "FLASHATTENTION_DISABLE_SOFTCAP",
                "two_dims": "FLASH_ATTENTION_DISABLE_HDIMDIFF64", "packed": "FLASHATTENTION_DISABLE_VARLEN",
                "lengths": "FLASHATTENTION_DISABLE_VARLEN", "pages": "FLASHATTENTION_DISABLE_PAGEDKV"}
    functions = {"packed": "flash_attn_varlen_func", "lengths": "flash_attn_with_kvcache",
                 "pages": "flash_attn_with_kvcache"}
    found = {name for name, flag in left_out.items()
             if not flags.get(flag) and hasattr(module, functions.get(name, "flash_attn_func"))}
    return frozenset(found | {"head_scales"})


def _flash3_dtypes(flags):
    left_out = {"FP16": "FLASHATTENTION_DISABLE_FP16", E4M3: "FLASHATTENTION_DISABLE_FP8"}
    return tuple(dtype for dtype in (*DTYPES, E4M3) if not flags.get(left_out.get(dtype)))


def _find_fa3(torch):
    reasons = []
    for package, (interface, config) in FLASH3_PACKAGES.items():
        try:
            module = importlib.import_module(interface)
            module.flash_attn_func
        except (ImportError, AttributeError, OSError) as error:
            reasons.append(str(error))
            continue
        flags = _flash3_flags(config)
        return Peer("fa3", _installed_version(package), functools.partial(_flash3_launch, module),
                    dtypes=_flash3_dtypes(flags), features=_flash3_features(module, flags))
    raise ImportError("; ".join(reasons))


def _flash3_scales(inputs):
    """Returns the arguments that are scales of 8 bits: (sequences, heads of K)."""
    if inputs.q_scales is None:
        return {}
    shape = (len(inputs.keys), inputs.k.shape[2])
    if inputs.q_scales.numel() not in (1, shape[1]):
        raise NotImplementedError("heads of Q that share one of K share a scale")
    return {f"{name}_descale": getattr(inputs, scales).expand(shape).contiguous()
            for name, scales in attention_inputs.SCALES.items()}


def _flash3_launch(module, inputs):
    # With 0 it decides by itself how often to split the keys; by default it does not.
    settings = {"softmax_scale": inputs.scale, "causal": inputs.causal, "num_splits": 0, **_flash3_scales(inputs)}
    settings |= {"window_size": (inputs.window - 1, 0)} if inputs.window else {}
    settings |= {"softcap": inputs.softcap} if inputs.softcap else {}
    if inputs.is_packed:
        return _calling(module.flash_attn_varlen_func, *_packed(inputs), *_ends(inputs), **settings)
    if inputs.key_lengths is None:
        return _calling(module.flash_attn_func, inputs.q, inputs.k, inputs.v, **settings)
    settings |= {"page_table": inputs.page_table} if inputs.page_table is not None else {}
    return _calling(module.flash_attn_with_kvcache, inputs.q, inputs.k, inputs.v, cache_seqlens=inputs.key_lengths,
                    **settings)


FLASH4_FEATURES = frozenset(attention_inputs.FEATURES) - attention_inputs.SCALE_FEATURES - {"latent"}


def _flash4_launch(module, inputs):
    settings = {"softmax_scale": inputs.scale, "causal": inputs.causal}
    settings |= {"window_size": (inputs.window - 1, 0)} if inputs.window else {}
    settings |= {"softcap": inputs.softcap} if inputs.softcap else {}
    settings |= {"learnable_sink": inputs.sinks} if inputs.sinks is not None else {}
    if inputs.is_packed:
        ends = dict(zip(("cu_seqlens_q", "cu_seqlens_k", "max_seqlen_q", "max_seqlen_k"), _ends(inputs)))
        return _calling(module.flash_attn_varlen_func, *_packed(inputs), **ends, **settings)
    if inputs.key_lengths is None:
        return _calling(module.flash_attn_func, inputs.q, inputs.k, inputs.v, **settings)
    settings |= {"page_table": inputs.page_table} if inputs.page_table is not None else {}
    return _calling(module.flash_attn_varlen_func, inputs.q, inputs.k, inputs.v, seqused_k=inputs.key_lengths,
                    **settings)


def _find_fa4(torch):
    module = importlib.import_module("flash_attn.cute")
    if not hasattr(module, "flash_attn_func"):
        module = importlib.import_module("flash_attn.cute.interface")
    features = FLASH4_FEATURES
    if not hasattr(module, "flash_attn_varlen_func"):
        features -= {"lengths", "packed", "pages"}
    return Peer("fa4", str(getattr(module, "__version__", "?")), functools.partial(_flash4_launch, module),
                features=features)


def _find_flashinfer(torch):
    import flashinfer
    import flashinfer_attention

    features = {"lengths", "packed", "pages", "window", "softcap", "two_dims", "latent", "eight_bits", "head_scales"}
    return Peer("flashinfer", flashinfer.__version__, None, dtypes=(*DTYPES, E4M3), features=frozenset(features),
                several=functools.partial(flashinfer_attention.kernels, torch, flashinfer),
                output_scale=flashinfer_attention.output_scale)


def finder_of_libraries(folder):
    """Returns a finder of fa4 in a folder of kernels that were compiled ahead of time."""

    def find(torch):
        import flash4_kernels

        kernels = flash4_kernels.Folder(folder, torch)
        return Peer("fa4", kernels.version, kernels.make, features=FLASH4_FEATURES)

    return find


def _find_gemm(torch):
    # Not attention: the rate that the tensor cores sustain, for comparison.
    def make_of_eight_bits(inputs):
        a, b = (torch.randn(GEMM_SIZE, GEMM_SIZE, device=inputs.q.device).to(torch.float8_e4m3fn) for _ in range(2))
        one = torch.ones((), device=inputs.q.device)
        return lambda: torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=True)

    def make(inputs):
        if inputs.q_scales is not None:
            return make_of_eight_bits(inputs)
        a, b = (torch.randn(GEMM_SIZE, GEMM_SIZE, dtype=torch.bfloat16, device=inputs.q.device) for _ in range(2))
        product = torch.empty_like(a)

        def launch():
            torch.mm(a, b, out=product)

        return launch

    return Peer("gemm", f"PyTorch {torch.__version__}", make, flop=2 * GEMM_SIZE**3, dtypes=(*DTYPES, E4M3),
                features=frozenset(attention_inputs.FEATURES))


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


def cannot_do(peer, problem):
    """Returns why a peer is not timed on a problem, or None if it is."""
    if problem["dtype"] not in peer.dtypes:
        return f"no {problem['dtype']}"
    asked = attention_inputs.features_of(problem)
    for feature, reason in attention_inputs.FEATURES.items():
        if feature in asked - peer.features:
            return reason
    if "window" in asked and not attention_inputs.is_masked(problem):
        return "no window without a causal mask"
    return None
