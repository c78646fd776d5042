"""FlashInfer's attention with a paged cache, whose pages are in order. Planning, which the host does once for all
layers of a model, is not part of a launch."""
import functools
import itertools

PAGE_KEYS = 64
WORKSPACE_BYTES = 512 * 2**20
# Its own choice on Hopper does not split the keys; the other one does, and packs the heads of a group.
PREFILL_BACKENDS = {"prefill": "auto", "prefill_fa2": "fa2"}


def _pages_of(torch, tensor):
    """Returns (batch, keys, heads, columns) as pages. Copies it if its keys do not fill them."""
    batch, keys, heads, columns = tensor.shape
    pages = -(-keys // PAGE_KEYS)
    if keys % PAGE_KEYS or not tensor.is_contiguous():
        padded = torch.zeros((batch, pages * PAGE_KEYS, heads, columns), dtype=tensor.dtype, device=tensor.device)
        padded[:, :keys] = tensor
        tensor = padded
    return tensor.view(batch * pages, PAGE_KEYS, heads, columns)


def _page_table(torch, k, lengths):
    """Returns the first page of each sequence and the end, the pages, and the keys of the last page of each."""
    batch, keys = k.shape[:2]
    room = -(-keys // PAGE_KEYS)
    lengths = lengths or [keys] * batch
    pages = [[number * room + page for page in range(-(-length // PAGE_KEYS))]
             for number, length in enumerate(lengths)]

    def integers(values):
        return torch.tensor(list(values), dtype=torch.int32, device=k.device)

    return (integers(itertools.accumulate(map(len, pages), initial=0)), integers(itertools.chain(*pages)),
            integers((length - 1) % PAGE_KEYS + 1 for length in lengths))


def kernels(torch, flashinfer, queries, lengths):
    """Returns {name: function that makes a launch, as Peer.make} for problems with so many queries.

    lengths: the keys of each sequence, at least one; None: all that K has
    """

    pages_of = functools.cache(functools.partial(_pages_of, torch))  # kernels share a copy

    def workspace(q):
        return torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=q.device)

    def sizes(q, k):
        return *_page_table(torch, k, lengths), q.shape[2], k.shape[2], q.shape[3], PAGE_KEYS

    def settings(q, scale):
        return {"q_data_type": q.dtype, "kv_data_type": q.dtype, "sm_scale": scale}

    def launch_of(wrapper, q, k, v):
        rows = q.reshape(q.shape[0] * q.shape[1], q.shape[2], q.shape[3])
        cache = (pages_of(k), pages_of(v))
        return lambda: wrapper.run(rows, cache).view(*q.shape)

    def decode(use_tensor_cores):
        def make(q, k, v, _causal, scale):
            wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(workspace(q), "NHD",
                                                                    use_tensor_cores=use_tensor_cores)
            wrapper.plan(*sizes(q, k), **settings(q, scale))
            return launch_of(wrapper, q, k, v)

        return make

    def prefill(backend):
        def make(q, k, v, causal, scale):
            wrapper = flashinfer.BatchPrefillWithPagedKVCacheWrapper(workspace(q), "NHD", backend=backend)
            rows = torch.arange(0, (q.shape[0] + 1) * q.shape[1], q.shape[1], dtype=torch.int32, device=q.device)
            wrapper.plan(rows, *sizes(q, k), causal=causal, **settings(q, scale))
            return launch_of(wrapper, q, k, v)

        return make

    if queries == 1:
        return {"cuda_cores": decode(False), "tensor_cores": decode(True)}
    return {name: prefill(backend) for name, backend in PREFILL_BACKENDS.items()}
