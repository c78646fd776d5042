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
