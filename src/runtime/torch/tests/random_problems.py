"""Random problems, and the reference results for them."""
import dataclasses
import random

import torch

from fatune_attention import _fallback

DTYPES = {"FP16": torch.float16, "BF16": torch.bfloat16}
LAYOUTS = ("bshd", "bhsd", "one tensor", "padded")


@dataclasses.dataclass
class Problem:
    batch: int
    heads: int
    kv_heads: int
    seq_len: int
    seq_len_kv: int
    d_head: int
    d_head_v: int
    dtype: torch.dtype
    causal: bool
    window: int = 0
    scale: float | None = None
    layout: str = "bshd"

    def mask(self):
        return self.causal, self.window, self.scale

    def arguments(self):
        """The operators' arguments after q, k and v, with which a kernel runs even if nothing like it was tuned."""
        return *self.mask(), True


def _length(draw):
    return draw.choice([draw.randint(1, 300), draw.randint(301, 2048), 2 ** draw.randint(4, 11)])


def random_problem(draw):
    group, kv_heads = draw.choice([1, 1, 2, 4, 8]), draw.choice([1, 2, 3, 4])
    rows = _length(draw)
    keys = rows if draw.random() < 0.6 else _length(draw)
    d_head = draw.choice([64, 128, 128, 256])
    window = draw.randint(1, keys) if draw.random() < 0.1 else 0
    layout = draw.choice(LAYOUTS if keys == rows and group == 1 else ("bshd", "bhsd", "padded"))
    return Problem(draw.randint(1, 4), kv_heads * group, kv_heads, rows, keys, d_head, d_head,
                   draw.choice(list(DTYPES.values())), draw.random() < 0.5, window, draw.choice([None, None, 0.05]),
                   layout)


def random_problems(count, seed):
    draw = random.Random(seed)
    return [random_problem(draw) for _ in range(count)]


def _operand(problem, heads, rows, columns, device):
    def normal(*extents):
        return torch.randn(*extents, dtype=problem.dtype, device=device)

    if problem.layout == "bhsd":
        return normal(problem.batch, heads, rows, columns)
    if problem.layout == "padded":
        return normal(problem.batch, rows, heads + 1, columns + 8)[:, :, :heads, :columns].transpose(1, 2)
    return normal(problem.batch, rows, heads, columns).transpose(1, 2)


def operands(problem, seed=1, device="cuda"):
    """q, k and v, (batch, heads, rows, d)."""
    torch.manual_seed(seed)
    p = problem
    if p.layout == "one tensor":
        qkv = torch.randn(p.batch, p.seq_len, 3, p.heads, p.d_head, dtype=p.dtype, device=device)
        return qkv.permute(2, 0, 3, 1, 4).unbind(0)
    return (_operand(p, p.heads, p.seq_len, p.d_head, device), _operand(p, p.kv_heads, p.seq_len_kv, p.d_head, device),
            _operand(p, p.kv_heads, p.seq_len_kv, p.d_head_v, device))


def exact(problem, q, k, v):
    """O in double precision and the log-sum-exps, one sequence at a time."""
    o = [_fallback.attention_of_tensors(*(one.double() for one in (sequence_q[None], sequence_k[None], sequence_v[None])),
                              *problem.mask()) for sequence_q, sequence_k, sequence_v in zip(q, k, v)]
    return torch.cat(o), _fallback._lse(q, k, *problem.mask(), None, 0.0, None)


def _unfused(problem, q, k, v):
    """Computes O step by step, each step in the tensors' precision. Kernels are judged by its error."""
    k, v = (one.repeat_interleave(problem.heads // problem.kv_heads, 1) for one in (k, v))
    mask = _fallback.visible_keys(problem.seq_len, problem.seq_len_kv,
                                  *_fallback._range(problem.causal, problem.window), q.device)
    scores = (q @ k.mT * (problem.scale or problem.d_head ** -0.5)).masked_fill(~mask, float("-inf"))
    return scores.softmax(-1).nan_to_num(0.0) @ v


def errors(problem, o, q, k, v):
    """The largest error of O, of PyTorch's own attention, and of attention without a fused kernel, in the same
    precision."""
    expected, _ = exact(problem, q, k, v)
    others = _fallback.attention_of_tensors(q, k, v, *problem.mask()), _unfused(problem, q, k, v)
    return [(one.double() - expected).abs().max().item() for one in (o, *others)]
