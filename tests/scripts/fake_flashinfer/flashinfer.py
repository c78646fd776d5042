"""The wrappers of FlashInfer that scripts/lib/flashinfer_attention.py uses, which let time pass in the fake PyTorch."""
import types

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


class _MlaWrapper:
    def __init__(self, workspace, backend):
        self._ms = {"fa2": 0.07, "fa3": 0.03}[backend]

    def plan(self, metadata, num_heads, head_dim_ckv, head_dim_kpe, page_size, causal, sm_scale, q_data_type,
             kv_data_type):
        ends, pages_from, pages, keys = (tensor.values for tensor in metadata)
        assert ends == list(range(len(keys) + 1)) and not causal and sm_scale > 0 and q_data_type == kv_data_type
        assert pages_from[0] == 0 and pages_from[-1] == len(pages) == len(set(pages))
        assert all(-(-length // page_size) == end - begin for length, begin, end
                   in zip(keys, pages_from, pages_from[1:]))
        self._rows = (num_heads, head_dim_ckv + head_dim_kpe)
        self._pages, self._page, self._values = max(pages) + 1, (page_size, head_dim_ckv + head_dim_kpe), head_dim_ckv
        self._ms += 0.001 * (page_size == 1)

    def run(self, query, kv_cache):
        assert kv_cache.shape[0] >= self._pages and kv_cache.shape[1:] == self._page
        assert query.shape[1:] == self._rows
        torch.pass_time(self._ms)
        return torch.empty((*query.shape[:2], self._values), dtype=query.dtype)


mla = types.SimpleNamespace(BatchMLAPagedAttentionWrapper=_MlaWrapper,
                            MLAPlanMetadata=types.SimpleNamespace(csr=lambda *tensors: tensors))
