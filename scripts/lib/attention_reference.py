"""What attention gives for some rows of a problem, computed in fp32, and how far outputs are off it.

Outputs of 8-bit products differ from each other by more than rounding of 16 bits, so that each is compared with this.
"""
import dataclasses
import typing

ROWS = 32  # of each sequence, spread evenly over its queries


@dataclasses.dataclass
class Limits:
    greatest: float  # of a difference, in units of the greatest output of its row and head
    rms: float  # of all differences, in units of the outputs' own


# With Q of 16 bits, P has 16 bits, too. With Q of 8 bits, P has 3 bits after the first, and so may O. Rounding both
# gives up to 0.1, and 0.036; tensor cores then also add in less than fp32.
OF_SIXTEEN_BITS, OF_EIGHT_BITS = Limits(0.05, 0.02), Limits(0.2, 0.08)


@dataclasses.dataclass
class Sequence:
    first: int  # row of O, as a matrix of rows
    queries: int
    q: typing.Any  # (queries, heads, columns)
    k: typing.Any
    v: typing.Any


def _scaled(tensor, scales):
    """Returns elements in fp32. tensor: (batch, positions, heads, columns), or pages"""
    if scales is None:
        return tensor.float()
    if scales.dim() == 1:  # of the tensor, or of heads
        return tensor.float() * scales.view(1, 1, -1, 1)
    return tensor.float() * (scales[..., None] if scales.dim() == 3 else scales[:, None, :, None])


def _taken(torch, tensor, numbers):
    """Returns rows of a tensor of any type: PyTorch does not index all of them on a GPU."""
    if tensor.element_size() > 1:
        return tensor[numbers]
    return tensor.view(torch.uint8)[numbers].view(tensor.dtype)


def _part(scales, place):
    """Returns the scales of a part of the batch, or of some pages."""
    return scales if scales is None or scales.dim() == 1 else scales[place]


def _keys_of(torch, inputs, number, name):
    """Returns a sequence's K or V in fp32: (keys, heads, columns)."""
    tensor, scales = getattr(inputs, name), getattr(inputs, f"{name}_scales")
    keys = inputs.keys[number]
    if inputs.pages is not None:
        pages = torch.tensor(inputs.pages[number][:-(-keys // tensor.shape[1])], dtype=torch.long, device=tensor.device)
        return _scaled(_taken(torch, tensor, pages), _part(scales, pages)).flatten(0, 1)[:keys]
    if inputs.is_packed:
        first = sum(inputs.keys[:number])
        part = scales if scales is None or scales.dim() == 1 else scales[:, first:first + keys]
        return _scaled(tensor[:, first:first + keys], part)[0]
    place = slice(number, number + 1)
    return _scaled(tensor[place], _part(scales, place))[0, :keys]


def sequences(torch, inputs):
    first = 0
    for number in range(len(inputs.keys)):
        queries = inputs.queries[number] if inputs.is_packed else inputs.q.shape[1]
        q = inputs.q[0, first:first + queries] if inputs.is_packed else inputs.q[number]
        yield Sequence(first, queries, _scaled(q[None], inputs.q_scales)[0],
                       *(_keys_of(torch, inputs, number, name) for name in "kv"))
        first += queries


def _seen(torch, inputs, rows, of):
    """Returns which keys rows of a sequence see. The last query is at the last key."""
    keys = of.k.shape[0]
    place = torch.arange(keys, device=of.k.device)
    last = (rows + keys - of.queries)[:, None]
    seen = place <= last if inputs.causal else torch.ones(len(rows), keys, dtype=torch.bool, device=of.k.device)
    return seen & (place > last - inputs.window) if inputs.window else seen


def _attention(torch, inputs, of, rows):
    """Returns O of rows of a sequence: (rows, heads, columns)."""
    kv_heads = of.k.shape[1]
    q = of.q[rows].unflatten(1, (kv_heads, -1))
    scores = torch.einsum("rhgd,khd->hgrk", q, of.k) * inputs.scale
    if inputs.softcap:
        scores = torch.tanh(scores / inputs.softcap) * inputs.softcap
    scores = scores.masked_fill(~_seen(torch, inputs, rows, of), float("-inf"))
    if inputs.sinks is not None:
        sinks = inputs.sinks.float().view(kv_heads, -1, 1, 1).expand(*scores.shape[:3], 1)
        scores = torch.cat([scores, sinks], -1)
    p = torch.softmax(scores, -1).nan_to_num(0.0)[..., :of.k.shape[0]]  # a row that sees no key is 0
    return torch.einsum("hgrk,khd->rhgd", p, of.v).flatten(1, 2)


class Reference:
    """Some rows of a problem's output."""

    def __init__(self, torch, inputs):
        self._torch, numbers, outputs = torch, [], []
        self._limits = OF_SIXTEEN_BITS if inputs.q_scales is None else OF_EIGHT_BITS
        for of in sequences(torch, inputs):
            if of.queries:
                rows = torch.linspace(0, of.queries - 1, min(ROWS, of.queries), device=of.q.device).long()
                numbers.append(rows + of.first)
                outputs.append(_attention(torch, inputs, of, rows))
        self._rows, self._outputs = torch.cat(numbers), torch.cat(outputs)

    def errors(self, output, scale=None):
        """Returns the errors of an output in the units of Limits. scale: what O is multiplied by"""
        rows = _taken(self._torch, output.reshape(-1, *output.shape[-2:]), self._rows).float()
        rows = rows if scale is None else rows * scale
        off, size = (rows - self._outputs).abs(), self._outputs.abs()
        greatest = (off.amax(-1) / size.amax(-1).clamp_min(1e-30)).max().item()
        rms = (off.square().mean() / size.square().mean().clamp_min(1e-30)).sqrt().item()
        return {"greatest": greatest, "rms": rms}

    def check(self, output, scale=None):
        """Returns the errors. Raises RuntimeError if they are too large."""
        errors = self.errors(output, scale)
        if not (errors["greatest"] <= self._limits.greatest and errors["rms"] <= self._limits.rms):
            raise RuntimeError(f"its output is off attention in fp32 by {errors['greatest']:.3g} of a row's greatest "
                               f"value, and by {errors['rms']:.3g} in the mean square")
        return errors
