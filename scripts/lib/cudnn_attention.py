"""cuDNN's attention with Q, K and V of 8 bits (e4m3), through NVIDIA's Python frontend: PyTorch has no function for it.

On Hopper its O has 8 bits, too. It is stored in units of V's scale, in which no output is too large, because an output
is a mean of values. A causal mask begins at the first key. P, which is at most 1, is stored times P_SCALE.
"""

P_SCALE = 256.0  # the greatest number of e4m3 is 448


def output_scale(inputs):
    """Returns what O is multiplied by, or None for O of 16 bits."""
    return None if inputs.q_scales is None else inputs.v_scales


class _Graph:
    """A graph of cuDNN, and the tensors that its inputs and outputs are."""

    def __init__(self, torch, cudnn):
        self._torch, self._cudnn = torch, cudnn
        self._handle = cudnn.create_handle()
        cudnn.set_stream(handle=self._handle, stream=torch.cuda.current_stream().cuda_stream)
        types = cudnn.data_type
        self.graph = cudnn.pygraph(handle=self._handle, io_data_type=types.FP8_E4M3,
                                   intermediate_data_type=types.FLOAT, compute_data_type=types.FLOAT)
        self._pack = {}

    def add(self, tensor):
        """Returns what the graph calls a tensor of 8 bits, or of one number in fp32."""
        is_scale = tensor.dtype == self._torch.float32
        dim, stride = ((1,) * 4, (1,) * 4) if is_scale else (tensor.shape, tensor.stride())
        kind = self._cudnn.data_type.FLOAT if is_scale else self._cudnn.data_type.FP8_E4M3
        named = self.graph.tensor(dim=list(dim), stride=list(stride), data_type=kind)
        self._pack[named] = tensor
        return named

    def add_output(self, named, tensor):
        is_number = tensor.dtype == self._torch.float32
        dim, stride = ((1,) * 4, (1,) * 4) if is_number else (tensor.shape, tensor.stride())
        kind = self._cudnn.data_type.FLOAT if is_number else self._cudnn.data_type.FP8_E4M3
        named.set_output(True).set_dim(list(dim)).set_stride(list(stride)).set_data_type(kind)
        self._pack[named] = tensor

    def launcher(self):
        """Builds the graph. Returns a function that queues it."""
        self.graph.build([self._cudnn.heur_mode.A, self._cudnn.heur_mode.FALLBACK])
        workspace = self._torch.empty(max(1, self.graph.get_workspace_size()), dtype=self._torch.uint8, device="cuda")
        # Addresses, so that a launch takes the host little time; the tensors are kept beside them.
        tensors, addresses = self._pack, {named.get_uid(): tensor.data_ptr() for named, tensor in self._pack.items()}
        return lambda: (tensors, self.graph.execute(addresses, workspace, handle=self._handle))


def make(torch, cudnn, inputs):
    """Returns a function that queues the kernel on PyTorch's stream, and returns O."""
    q, k, v = (tensor.transpose(1, 2) for tensor in (inputs.q, inputs.k, inputs.v))
    if inputs.causal and q.shape[2] != k.shape[2]:
        raise NotImplementedError("cuDNN's causal mask of 8 bits begins at the first key")
    of, o = _Graph(torch, cudnn), torch.empty(*inputs.q.shape[:3], v.shape[3], dtype=q.dtype, device=q.device)
    numbers = [torch.tensor([value], device=q.device) for value in (1 / P_SCALE, P_SCALE)]
    scales = dict(zip(("descale_q", "descale_k", "descale_v", "descale_s", "scale_s", "scale_o"),
                      [inputs.q_scales, inputs.k_scales, inputs.v_scales, *numbers, inputs.v_scales.reciprocal()]))
    mask = {"diagonal_alignment": cudnn.diagonal_alignment.TOP_LEFT, "right_bound": 0} if inputs.causal else {}
    found, _, *greatest = of.graph.sdpa_fp8(
        q=of.add(q), k=of.add(k), v=of.add(v), **{name: of.add(scale) for name, scale in scales.items()},
        generate_stats=False, attn_scale=inputs.scale, **mask)
    of.add_output(found, o.transpose(1, 2))
    for one in greatest:  # of P and of O
        of.add_output(one, torch.zeros(1, device=q.device))
    queue = of.launcher()

    def launch():
        queue()
        return o

    return launch
