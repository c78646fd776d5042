"""FlashInfer's attention with a paged cache, whose pages are in order. Planning, which the host does once for all
layers of a model, is not part of a launch."""

PAGE_KEYS = 64
WORKSPACE_BYTES = 512 * 2**20


def _pages_of(torch, tensor):
    """Returns (batch, keys, heads, columns) as pages. Copies it if its keys do not fill them."""
    batch, keys, heads, columns = tensor.shape
    pages = -(-keys // PAGE_KEYS)
    if keys % PAGE_KEYS or not tensor.is_contiguous():
        padded = torch.zeros((batch, pages * PAGE_KEYS, heads, columns), dtype=tensor.dtype, device=tensor.device)
        padded[:, :keys] = tensor
        tensor = padded
    return tensor.view(batch * pages, PAGE_KEYS, heads, columns)


def _page_table(torch, k):
    """Returns the first page of each sequence and the end, the pages, and the keys of the last page of each."""
    batch, keys = k.shape[:2]
    pages = -(-keys // PAGE_KEYS)

    def integers(*values):
        return torch.arange(*values, dtype=torch.int32, device=k.device)

    last = torch.full((batch,), keys - (pages - 1) * PAGE_KEYS, dtype=torch.int32, device=k.device)
    return integers(0, (batch + 1) * pages, pages), integers(0, batch * pages), last


def kernels(torch, flashinfer, queries):
    """Returns {name: function that makes a launch, as Peer.make} for problems with so many queries."""

    def workspace(q):
        return torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=q.device)

    def sizes(q, k):
        return *_page_table(torch, k), q.shape[2], k.shape[2], q.shape[3], PAGE_KEYS

    def settings(q, scale):
        return {"q_data_type": q.dtype, "kv_data_type": q.dtype, "sm_scale": scale}

    def launch_of(wrapper, q, k, v):
        rows = q.reshape(q.shape[0] * q.shape[1], q.shape[2], q.shape[3])
        cache = (_pages_of(torch, k), _pages_of(torch, v))
        return lambda: wrapper.run(rows, cache).view(*q.shape)

    def decode(use_tensor_cores):
        def make(q, k, v, _causal, scale):
            wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(workspace(q), "NHD",
                                                                    use_tensor_cores=use_tensor_cores)
            wrapper.plan(*sizes(q, k), **settings(q, scale))
            return launch_of(wrapper, q, k, v)

        return make

    def prefill(q, k, v, causal, scale):
        wrapper = flashinfer.BatchPrefillWithPagedKVCacheWrapper(workspace(q), "NHD")
        rows = torch.arange(0, (q.shape[0] + 1) * q.shape[1], q.shape[1], dtype=torch.int32, device=q.device)
        wrapper.plan(rows, *sizes(q, k), causal=causal, **settings(q, scale))
        return launch_of(wrapper, q, k, v)

    return {"cuda_cores": decode(False), "tensor_cores": decode(True)} if queries == 1 else {"prefill": prefill}
