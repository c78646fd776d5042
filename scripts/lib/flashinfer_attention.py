"""FlashInfer's attention with a paged cache, with packed keys, and with latent keys (MLA decoding). Planning, which the
host does once for all layers of a model, is not part of a launch. Contiguous keys of sequences are passed as pages in
order, but with Q of 8 bits as packed ones.

K and V of 8 bits with Q of 16 bits have one scale each. That of K is a factor of the scores. FlashInfer multiplies O by
that of V in a kernel of its own, which is not part of a launch."""
import functools
import itertools

PAGE_KEYS = 64  # of keys that are contiguous
WORKSPACE_BYTES = 512 * 2**20
# Its own choice on Hopper does not split the keys; the other one does, and packs the heads of a group.
PREFILL_BACKENDS = {"prefill": "auto", "prefill_fa2": "fa2"}
LATENT_BACKENDS = ("fa2", "fa3")
LATENT_PAGES = (PAGE_KEYS, 1)  # of keys that are contiguous


def _as_pages(torch, tensor, page_keys=PAGE_KEYS):
    """Returns (batch, keys, heads, columns) as pages. Copies it if its keys do not fill them."""
    batch, keys, heads, columns = tensor.shape
    pages = -(-keys // page_keys)
    if keys % page_keys or not tensor.is_contiguous():
        padded = torch.zeros((batch, pages * page_keys, heads, columns), dtype=tensor.dtype, device=tensor.device)
        padded[:, :keys] = tensor
        tensor = padded
    return tensor.view(batch * pages, page_keys, heads, columns)


def _integers(torch, inputs, values):
    return torch.tensor(list(values), dtype=torch.int32, device=inputs.q.device)


def _page_table(torch, inputs, page_keys):
    """Returns the first page of each sequence and the end, the pages, and the keys of the last page of each."""
    used = [-(-length // page_keys) for length in inputs.keys]
    if inputs.pages is None:
        room = -(-inputs.k.shape[1] // page_keys)
        pages = [range(number * room, number * room + count) for number, count in enumerate(used)]
    else:
        pages = [of[:count] for of, count in zip(inputs.pages, used)]
    integers = functools.partial(_integers, torch, inputs)
    return (integers(itertools.accumulate(used, initial=0)), integers(itertools.chain(*pages)),
            integers((length - 1) % page_keys + 1 for length in inputs.keys))


def _settings(inputs):
    found = {"q_data_type": inputs.q.dtype, "kv_data_type": inputs.k.dtype, "sm_scale": inputs.scale}
    if output_scale(inputs) is not None:
        found |= {"sm_scale": inputs.scale * inputs.k_scales.item(), "o_data_type": inputs.q.dtype}
    found |= {"window_left": inputs.window - 1} if inputs.window else {}
    return found | ({"logits_soft_cap": inputs.softcap} if inputs.softcap else {})


def output_scale(inputs):
    """Returns what O is multiplied by, or None."""
    return inputs.v_scales if inputs.q_scales is None else None


def _workspace(torch, inputs):
    return torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=inputs.q.device)


def _packed_kernel(torch, flashinfer, backend):
    """Returns a function that makes a launch, as Peer.make, for a packed batch."""

    def make(inputs):
        if not inputs.causal:
            raise NotImplementedError("packed batches are timed with a causal mask only")
        q, k, v = inputs.q[0], inputs.k[0], inputs.v[0]
        wrapper = flashinfer.BatchPrefillWithRaggedKVCacheWrapper(_workspace(torch, inputs), "NHD", backend=backend)
        wrapper.plan(inputs.cu_queries, inputs.cu_keys, q.shape[1], k.shape[1], q.shape[2], head_dim_vo=v.shape[2],
                     causal=True, **_settings(inputs))
        return lambda: wrapper.run(q, k, v)

    return make


def _as_packed(torch, inputs):
    """Returns a batch of equal lengths as a packed one."""
    batch, queries = inputs.q.shape[:2]
    keys = inputs.k.shape[1]

    def together(tensor):
        return tensor.reshape(1, tensor.shape[0] * tensor.shape[1], *tensor.shape[2:])

    def ends(length):
        return _integers(torch, inputs, range(0, (batch + 1) * length, length))

    return type(inputs)(together(inputs.q), together(inputs.k), together(inputs.v), inputs.causal, inputs.scale,
                        [keys] * batch, queries=[queries] * batch, cu_queries=ends(queries), cu_keys=ends(keys),
                        window=inputs.window, softcap=inputs.softcap, q_scales=inputs.q_scales,
                        k_scales=inputs.k_scales, v_scales=inputs.v_scales)


def _unpacked(make, torch):
    """Returns a function as make for a batch of equal lengths."""

    def of_batch(inputs):
        launch = make(_as_packed(torch, inputs))
        shape = (*inputs.q.shape[:3], inputs.v.shape[3])
        return lambda: launch().view(*shape)

    return of_batch


def _eight_bit_launch(torch, flashinfer, inputs):
    """Returns a launch for a packed batch with Q, K and V of 8 bits. Heads have scales."""
    if inputs.window or inputs.softcap:
        raise NotImplementedError("Q of 8 bits is timed without windows and caps of scores")
    q, k, v = inputs.q[0], inputs.k[0], inputs.v[0]
    scales = [scales.expand(tensor.shape[1]).contiguous()
              for tensor, scales in ((q, inputs.q_scales), (k, inputs.k_scales), (v, inputs.v_scales))]
    wrapper = flashinfer.BatchPrefillWithRaggedKVCacheWrapper(_workspace(torch, inputs), "NHD", backend="fa3")
    wrapper.plan(inputs.cu_queries, inputs.cu_keys, q.shape[1], k.shape[1], q.shape[2], head_dim_vo=v.shape[2],
                 causal=inputs.causal, o_data_type=torch.bfloat16, **_settings(inputs))
    return lambda: wrapper.run(q, k, v, *scales)


def kernels(torch, flashinfer, inputs):
    """Returns {name: function that makes a launch, as Peer.make} for attention_inputs.Inputs."""
    if inputs.q_scales is not None:
        return {"prefill_fp8": _unpacked(functools.partial(_eight_bit_launch, torch, flashinfer), torch)}
    if inputs.is_latent:
        return _latent_kernels(torch, flashinfer, inputs)
    prefill_of = functools.partial(_packed_kernel, torch, flashinfer)
    if inputs.is_packed:
        return {name: prefill_of(backend) for name, backend in PREFILL_BACKENDS.items()}
    if packs_batch(inputs):
        return {name: _unpacked(prefill_of(backend), torch) for name, backend in PREFILL_BACKENDS.items()}
    return _kernels_with_pages(torch, flashinfer, inputs)


def packs_batch(inputs):
    """Whether sequences with as many keys are passed as packed ones: pages have one head dimension, and of kernels with
    windows or caps of scores, the build script makes those for packed keys alone."""
    is_plain = inputs.q.shape[3] == inputs.v.shape[3] and not inputs.window and not inputs.softcap
    return inputs.key_lengths is None and not is_plain


def _kernels_with_pages(torch, flashinfer, inputs):
    if inputs.k_scales is not None and inputs.k_scales.numel() > 1:
        return {"eight_bits": _raising(NotImplementedError("one scale for all heads with Q of 16 bits"))}
    page_keys = PAGE_KEYS if inputs.pages is None else inputs.k.shape[1]
    # Kernels share a copy.
    pages_of = functools.cache(functools.partial(_as_pages, torch) if inputs.pages is None else lambda tensor: tensor)

    def sizes(inputs):
        q, k = inputs.q, inputs.k
        return *_page_table(torch, inputs, page_keys), q.shape[2], k.shape[2], q.shape[3], page_keys

    def launch_of(wrapper, inputs):
        q = inputs.q
        rows = q.reshape(q.shape[0] * q.shape[1], q.shape[2], q.shape[3])
        cache = (pages_of(inputs.k), pages_of(inputs.v))
        return lambda: wrapper.run(rows, cache).view(*q.shape)

    def decode(use_tensor_cores):
        def make(inputs):
            wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(_workspace(torch, inputs), "NHD",
                                                                    use_tensor_cores=use_tensor_cores)
            wrapper.plan(*sizes(inputs), **_settings(inputs))
            return launch_of(wrapper, inputs)

        return make

    def prefill(backend):
        def make(inputs):
            q = inputs.q
            wrapper = flashinfer.BatchPrefillWithPagedKVCacheWrapper(_workspace(torch, inputs), "NHD", backend=backend)
            rows = torch.arange(0, (q.shape[0] + 1) * q.shape[1], q.shape[1], dtype=torch.int32, device=q.device)
            wrapper.plan(rows, *sizes(inputs), causal=inputs.causal, **_settings(inputs))
            return launch_of(wrapper, inputs)

        return make

    if inputs.q.shape[1] == 1:
        return {"cuda_cores": decode(False), "tensor_cores": decode(True)}
    return {name: prefill(backend) for name, backend in PREFILL_BACKENDS.items()}


def _raising(error):
    def make(_inputs):
        raise error

    return make


def _latent_kernels(torch, flashinfer, inputs):
    """MLA decoding. Backends read the columns that are values and the others at the strides of whole keys."""
    pages_of = functools.cache(functools.partial(_as_pages, torch))

    def kernel(backend, page_keys):
        def make(inputs):
            if inputs.is_packed or inputs.window or inputs.softcap or inputs.k.shape[2] > 1:
                raise NotImplementedError("MLA decoding is timed with one head of keys and plain scores, not packed")
            q, values = inputs.q, inputs.v.shape[3]
            rows = q.reshape(q.shape[0] * q.shape[1], q.shape[2], q.shape[3])
            pages = pages_of(inputs.k, page_keys) if inputs.pages is None else inputs.k
            cache = pages.view(pages.shape[0], page_keys, q.shape[3])
            ends = _integers(torch, inputs, range(0, (q.shape[0] + 1) * q.shape[1], q.shape[1]))
            begins, numbers, _ = _page_table(torch, inputs, page_keys)
            metadata = flashinfer.mla.MLAPlanMetadata.csr(ends, begins, numbers, _integers(torch, inputs, inputs.keys))
            wrapper = flashinfer.mla.BatchMLAPagedAttentionWrapper(_workspace(torch, inputs), backend=backend)
            wrapper.plan(metadata=metadata, num_heads=q.shape[2], head_dim_ckv=values,
                         head_dim_kpe=q.shape[3] - values, page_size=page_keys, causal=inputs.causal,
                         **_settings(inputs))
            return lambda: wrapper.run(query=rows, kv_cache=cache).view(*q.shape[:3], values)

        return make

    sizes = LATENT_PAGES if inputs.pages is None else (inputs.k.shape[1],)
    return {f"mla_{backend}_pages_{page_keys}": kernel(backend, page_keys)
            for backend, page_keys in itertools.product(LATENT_BACKENDS, sizes)}
