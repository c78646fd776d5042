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
            "latent": "V as a tensor of its own", "eight_bits": "Q, K and V of 16 bits"}


def features_of(problem):
    """Returns the names of FEATURES that a problem asks for. Packed batches have lengths."""
    packed = bool(problem.get("seq_lens"))
    asked = {"packed": packed, "lengths": bool(problem.get(fatune_program.KEY_LENGTHS)) and not packed,
             "pages": problem.get("page_size", 0), "window": problem.get("window", 0),
             "softcap": problem.get("softcap", 0), "sinks": problem.get("sinks", False),
             "two_dims": problem.get("d_head_v", problem["d_head"]) != problem["d_head"],
             "latent": problem.get("latent", False),
             "eight_bits": problem["dtype"] == "E4M3" or problem.get("kv_dtype", problem["dtype"]) != problem["dtype"]}
    return {name for name, value in asked.items() if value}


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
    A window reaches back, and includes the query's own position."""
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

    @property
    def is_packed(self):
        return self.queries is not None

    def empty_output(self, torch):
        if self.q.shape[3] == self.v.shape[3]:
            return torch.empty_like(self.q)
        return torch.empty((*self.q.shape[:3], self.v.shape[3]), dtype=self.q.dtype, device=self.q.device)


def keys_of(problem):
    """Returns the keys of each sequence."""
    return (fatune_program.key_lengths(problem) or fatune_program.query_lengths(problem)
            or [problem.get("seq_len_kv", problem["seq_len"])] * problem["batch"])


def tensors_of(torch, launch, problem):
    """Returns the tensors of a kernel's launch by name: Q, K, V (normal random) and O (NaN), and those that say where
    sequences end and where pages are. Latent V is columns of K."""
    def integers(values):
        return torch.tensor(values, dtype=torch.int32, device="cuda")

    tensors = {}
    names = "qko" if problem.get("latent", False) else "qkvo"
    for tensor in launch["tensors"]:
        if tensor["name"] in names:
            strided = torch.empty_strided(tensor["shape"], tensor["strides"], device="cuda",
                                          dtype=getattr(torch, tensor["element_type"]))
            tensors[tensor["name"]] = strided.fill_(float("nan")) if tensor["name"] == "o" else strided.normal_()
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
                  sinks=tensors.get("sinks"), is_latent=problem.get("latent", False))
