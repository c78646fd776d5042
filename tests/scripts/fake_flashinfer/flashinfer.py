"""The wrappers of FlashInfer that scripts/lib/flashinfer_attention.py uses, which let time pass in the fake PyTorch."""
import torch

__version__ = "0.0-fake"


class _Wrapper:
    def _plan(self, pages_from, pages, last_keys, q_heads, k_heads, columns, page_keys, sm_scale, q_data_type,
              kv_data_type):
        assert pages_from.values[0] == 0 and pages_from.values[-1] == len(pages.values) == len(set(pages.values))
        assert pages_from.values == sorted(pages_from.values) and 1 <= min(last_keys.values)
        assert max(last_keys.values) <= page_keys and q_data_type == kv_data_type and sm_scale > 0
        self._rows = (q_heads, columns)
        self._pages, self._page = max(pages.values) + 1, (page_keys, k_heads, columns)

    def run(self, q, cache):
        assert all(tensor.shape[0] >= self._pages and tensor.shape[1:] == self._page for tensor in cache)
        assert q.shape[1:] == self._rows
        torch.pass_time(self._ms)
        return torch.empty_like(q)


class BatchDecodeWithPagedKVCacheWrapper(_Wrapper):
    def __init__(self, workspace, kv_layout, use_tensor_cores):
        assert kv_layout == "NHD"
        self._ms = 0.05 if use_tensor_cores else 0.08

    def plan(self, *sizes, **settings):
        self._plan(*sizes, **settings)


class BatchPrefillWithPagedKVCacheWrapper(_Wrapper):
    def __init__(self, workspace, kv_layout, backend):
        assert kv_layout == "NHD"
        self._ms = {"auto": 0.3, "fa2": 0.2}[backend]

    def plan(self, rows, *sizes, causal, **settings):
        assert isinstance(causal, bool) and rows.values[0] == 0
        self._plan(*sizes, **settings)


class BatchPrefillWithRaggedKVCacheWrapper:
    def __init__(self, workspace, kv_layout, backend):
        assert kv_layout == "NHD"
        self._ms = {"auto": 0.06, "fa2": 0.2}[backend]

    def plan(self, ends_q, ends_k, q_heads, k_heads, columns, head_dim_vo, causal, sm_scale, q_data_type, kv_data_type,
             window_left=-1, logits_soft_cap=0.0):
        assert (window_left >= 0) + (logits_soft_cap > 0) <= 1 and causal and sm_scale > 0 and q_data_type == kv_data_type and columns >= head_dim_vo
        assert len(ends_q.values) == len(ends_k.values)
        self._ends = (ends_q, ends_k)
        self._shapes = ((q_heads, columns), (k_heads, columns), (k_heads, head_dim_vo))

    def run(self, q, k, v):
        assert tuple(tensor.shape[1:] for tensor in (q, k, v)) == self._shapes
        assert (q.shape[0], k.shape[0]) == tuple(ends.values[-1] for ends in self._ends)
        torch.pass_time(self._ms)
        return torch.empty((*q.shape[:2], v.shape[2]), dtype=q.dtype)
