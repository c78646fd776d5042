"""Tensors of one problem, and what attention kernels of other projects are called with."""
import dataclasses
import itertools
import random
import typing

import fatune_program

PAGES_SEED = 0
# What a problem asks for beside a mask, heads and lengths that all sequences share; and what lacks a kernel without it.
FEATURES = {"lengths": "one length for all sequences", "packed": "no packed batches", "pages": "contiguous K and V",
            "window": "no window", "softcap": "no softcap", "sinks": "no sinks", "two_dims": "one head dimension",
            "latent": "V as a tensor of its own", "eight_bits": "K and V with the type of Q",
            "head_scales": "one scale for all heads", "key_scales": "no scales of keys or pages",
            "block_scales": "no scales of blocks"}
SCALE_FEATURES = frozenset({"eight_bits", "head_scales", "key_scales", "block_scales"})
EIGHT_BITS = ("E4M3", "E5M2")
SCALES = {"q": "q_scales", "k": "k_scales", "v": "v_scales"}  # the names of a tensor's scales
# Dimensions of (batch, positions, heads, columns), or of pages, whose elements share a scale.
SHARING = {"tensor": (0, 1, 2, 3), "head": (0, 1, 3), "token": (3,), "page": (1, 3)}


def features_of(problem):
    """Returns the names of FEATURES that a problem asks for. Packed batches have lengths."""
    packed = bool(problem.get("seq_lens"))
    asked = {"packed": packed, "lengths": bool(problem.get(fatune_program.KEY_LENGTHS)) and not packed,
             "pages": problem.get("page_size", 0), "window": problem.get("window", 0),
             "softcap": problem.get("softcap", 0), "sinks": problem.get("sinks", False),
             "two_dims": problem.get("d_head_v", problem["d_head"]) != problem["d_head"],
             "latent": problem.get("latent", False),
             "eight_bits": problem.get("kv_dtype", problem["dtype"]) != problem["dtype"],
             "head_scales": shared_scales(problem) == "head", "key_scales": shared_scales(problem) in ("token", "page"),
             "block_scales": shared_scales(problem) == "block"}
    return {name for name, value in asked.items() if value}


def has_eight_bits(problem):
    """Whether K and V have 8 bits. Q has 8 bits, too, if its type is theirs."""
    return problem.get("kv_dtype", problem["dtype"]) in EIGHT_BITS


def shared_scales(problem):
    """Returns what shares a scale, a key of SHARING or "block", or None if elements have none."""
    return problem.get("kv_scales", "tensor") if has_eight_bits(problem) else None


def is_masked(problem):
    """Whether there is a causal mask that hides a key: one query sees all keys."""
    return problem["causal"] and problem["seq_len"] > 1


def ends_of(lengths):
    """Returns where each sequence of a packed batch begins, and the end."""
    return list(itertools.accumulate(lengths, initial=0))


def page_table(problem, pool):
    """Returns the pages of each sequence, in random order, from a pool of so many."""
    pages = -(-problem["seq_len_kv"] // problem["page_size"])
    drawn = random.Random(PAGES_SEED).sample(range(pool), problem["batch"] * pages)
    return [drawn[begin:begin + pages] for begin in range(0, len(drawn), pages)]


@dataclasses.dataclass
class Inputs:
    """Q, K and V are (batch, positions, heads, columns). Packed batches are one sequence of all; K and V in pages are
    (pages, positions of a page, heads, columns). Latent V is the first columns of K.
    A window reaches back, and includes the query's own position.
    What is stored in a tensor of 8 bits, times its scale, is the element. Scales are (1) of a tensor, (heads), (batch,
    positions, heads) of keys or (pages, heads)."""
    q: typing.Any
    k: typing.Any
    v: typing.Any
    causal: bool
    scale: float
    keys: list  # of each sequence
    queries: list | None = None  # of each sequence of a packed batch
    pages: list | None = None  # of each sequence
    key_lengths: typing.Any = None  # where sequences differ, or have pages
    cu_queries: typing.Any = None
    cu_keys: typing.Any = None
    page_table: typing.Any = None
    window: int = 0
    softcap: float = 0.0
    sinks: typing.Any = None
    is_latent: bool = False
    q_scales: typing.Any = None  # of Q of 8 bits: O then has BF16
    k_scales: typing.Any = None
    v_scales: typing.Any = None

    @property
    def is_packed(self):
        return self.queries is not None

    def empty_output(self, torch):
        kind = {} if self.q_scales is None else {"dtype": torch.bfloat16}
        if self.q.shape[3] == self.v.shape[3]:
            return torch.empty_like(self.q, **kind)
        return torch.empty((*self.q.shape[:3], self.v.shape[3]), **{"dtype": self.q.dtype, **kind},
                           device=self.q.device)


def keys_of(problem):
    """Returns the keys of each sequence."""
    return (fatune_program.key_lengths(problem) or fatune_program.query_lengths(problem)
            or [problem.get("seq_len_kv", problem["seq_len"])] * problem["batch"])


def shapes_of(problem):
    """Returns the tensors of a problem as a kernel's launch has them, where no kernel says them. Heads are inside of
    positions. A pool has an eighth more pages than are used, and one."""
    heads, d_head = problem["heads"], problem["d_head"]
    kv_heads, d_head_v = problem.get("kv_heads", heads), problem.get("d_head_v", d_head)
    queries, keys = fatune_program.query_lengths(problem), problem.get("seq_len_kv", problem["seq_len"])
    if queries is not None:
        rows, kv_rows = (1, sum(queries)), (1, sum(keys_of(problem)))
    else:
        rows, kv_rows = (problem["batch"], problem["seq_len"]), (problem["batch"], keys)
    if size := problem.get("page_size", 0):
        used = problem["batch"] * -(-keys // size)
        kv_rows = (used + used // 8 + 1, size)
    eight_bits = {"E4M3": "float8_e4m3fn", "E5M2": "float8_e5m2"}
    types = {"FP16": "float16", "BF16": "bfloat16", **eight_bits}
    of_output = "bfloat16" if problem["dtype"] in eight_bits else types[problem["dtype"]]
    of_keys = types[problem.get("kv_dtype", problem["dtype"])]
    shapes = {"q": (*rows, heads, d_head), "k": (*kv_rows, kv_heads, d_head), "v": (*kv_rows, kv_heads, d_head_v),
              "o": (*rows, heads, d_head_v)}
    return {"tensors": [{"name": name, "shape": shape, "element_type": kind,
                         "strides": (shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1)}
                        for (name, shape), kind in zip(shapes.items(), (types[problem["dtype"]], of_keys, of_keys,
                                                                        of_output))]}


def as_eight_bits(torch, values, dtype, sharing):
    """Returns values rounded to 8 bits, and their scales, in fp32: the greatest of those that share a scale is stored
    as the greatest number of the type. The values are overwritten."""
    dims = SHARING[sharing]
    greatest = torch.maximum(values.amax(dims, keepdim=True), -values.amin(dims, keepdim=True))
    scales = greatest.float() / torch.finfo(dtype).max
    shape = [size for dim, size in enumerate(values.shape) if dim not in dims] or [1]
    stored = torch.empty_strided(values.shape, values.stride(), dtype=dtype, device=values.device)
    return stored.copy_(values.div_(scales)), scales.reshape(shape)


def _drawn(torch, tensor, sharing):
    """Returns {name: tensor} of a tensor of a launch, and of its scales if it has 8 bits. Values are normal random."""
    name, dtype = tensor["name"], getattr(torch, tensor["element_type"])
    has_scales = tensor["element_type"].startswith("float8")
    strided = torch.empty_strided(tensor["shape"], tensor["strides"], device="cuda",
                                  dtype=torch.bfloat16 if has_scales else dtype)
    if name == "o":
        return {name: strided.fill_(float("nan"))}
    if not has_scales:
        return {name: strided.normal_()}
    return dict(zip((name, SCALES[name]), as_eight_bits(torch, strided.normal_(), dtype, sharing)))


def tensors_of(torch, launch, problem):
    """Returns the tensors of a kernel's launch by name: Q, K, V (normal random, of 8 bits with their scales) and O
    (NaN), and those that say where sequences end and where pages are. Latent V is columns of K."""
    def integers(values):
        return torch.tensor(values, dtype=torch.int32, device="cuda")

    if shared_scales(problem) == "block":
        raise NotImplementedError("scales of blocks: no kernel of another project is called with them")
    tensors = {}
    names = "qko" if problem.get("latent", False) else "qkvo"
    for tensor in launch["tensors"]:
        if tensor["name"] in names:
            tensors |= _drawn(torch, tensor, shared_scales(problem))
    if "v" not in names:
        tensors["v"] = tensors["k"][..., :problem["d_head_v"]]
    queries = fatune_program.query_lengths(problem)
    if queries is not None:
        tensors |= {"cu_seqlens_q": integers(ends_of(queries)), "cu_seqlens_kv": integers(ends_of(keys_of(problem)))}
    elif problem.get(fatune_program.KEY_LENGTHS) or problem.get("page_size", 0):
        tensors[fatune_program.KEY_LENGTHS] = integers(keys_of(problem))
    if problem.get("page_size", 0):
        table = page_table(problem, tensors["k"].shape[0])
        tensors["page_table"] = integers(list(itertools.chain(*table))).view(len(table), len(table[0]))
    if problem.get("sinks", False):
        tensors["sinks"] = torch.randn(problem["heads"], device="cuda")
    return tensors


def inputs_of(problem, tensors):
    """Returns what other kernels are called with on these tensors."""
    table = page_table(problem, tensors["k"].shape[0]) if problem.get("page_size", 0) else None
    return Inputs(tensors["q"], tensors["k"], tensors["v"], is_masked(problem),
                  problem.get("softmax_scale", problem["d_head"] ** -0.5), keys_of(problem),
                  queries=fatune_program.query_lengths(problem), pages=table,
                  key_lengths=tensors.get(fatune_program.KEY_LENGTHS), cu_queries=tensors.get("cu_seqlens_q"),
                  cu_keys=tensors.get("cu_seqlens_kv"), page_table=tensors.get("page_table"),
                  window=problem.get("window", 0), softcap=float(problem.get("softcap", 0)),
                  sinks=tensors.get("sinks"), is_latent=problem.get("latent", False),
                  **{name: tensors.get(name) for name in SCALES.values()})
