"""The scales of K and V of 8 bits: k_descale and v_descale, as FlashAttention-3 and vLLM call them."""
import torch

EIGHT_BITS = (torch.float8_e4m3fn, torch.float8_e5m2)
SHAPES = "(1), (kv_heads), (batch, keys, kv_heads) or, in pages, (pages, kv_heads) or (pages, keys of a page, kv_heads)"


def _without_copies(descale):
    """Returns one for all, (1), or one for each head, (kv_heads), where that is expanded to sequences and heads."""
    if descale.dim() == 2 and (descale.size(0) == 1 or descale.stride(0) == 0):
        descale = descale[0]
    return descale[:1] if descale.dim() == 1 and descale.stride(0) == 0 else descale


def _as_scales(descale, keys, has_pages, name):
    descale = _without_copies(descale.reshape(1) if descale.dim() == 0 else descale)
    outer, heads, rows, _ = keys.shape
    shapes = [(1,), (heads,), (outer, rows, heads)] + ([(outer, heads)] if has_pages else [])
    if tuple(descale.shape) not in shapes or descale.device != keys.device:
        raise ValueError(f"{name} must be {SHAPES} on {keys.device}, not {tuple(descale.shape)} on {descale.device}")
    return descale.float().contiguous()


def as_scales(k, v, k_descale, v_descale, has_pages=False):
    """Returns the scales as the operators take them, of keys and values (batch, kv_heads, keys, d) or of pools (pages,
    kv_heads, keys of a page, d); None, None for K and V of 16 bits."""
    is_given = k_descale is not None, v_descale is not None
    if k.dtype not in EIGHT_BITS:
        if any(is_given):
            raise ValueError(f"k_descale and v_descale are for keys and values of float8, not of {k.dtype}")
        return None, None
    if not all(is_given) or v.dtype != k.dtype:
        raise ValueError(f"keys of {k.dtype} need values of that type, k_descale and v_descale")
    scales = (_as_scales(k_descale, k, has_pages, "k_descale"), _as_scales(v_descale, v, has_pages, "v_descale"))
    if scales[0].shape != scales[1].shape:
        raise ValueError("k_descale and v_descale must have the same shape")
    return scales


def of_rows(scales, keys):
    """Returns the scales of rows, (batch, kv_heads, keys, 1), from as_scales() of the keys (batch, kv_heads, keys, d)."""
    if scales.dim() == 3:
        scales = scales.transpose(1, 2)[..., None]
    else:
        scales = scales[..., :, None, None]
    return scales.expand(*keys.shape[:3], 1)
