"""FlashAttention-4's kernels, compiled ahead of time to a folder of shared libraries that tvm_ffi loads.

scripts/build_flash4_kernels makes the folder, on a machine with or without a GPU. One library serves all numbers of
queries and keys. Lengths, packed batches, pages, windows, caps of scores and sinks need libraries of their own. No
kernel of sm_90 splits keys.
"""
import json
import pathlib
import typing

import tvm_ffi

FUNCTION = "flash4_forward"  # in each library
VERSIONS_FILE = "versions.json"
BUILDER = "scripts/build_flash4_kernels"
OTHER_LOADS_PAGE = 128  # pages as large as a tile of keys are loaded by another kernel


class Kernel(typing.NamedTuple):
    d_head: int
    d_head_v: int
    dtype: str  # PyTorch's name
    causal: bool
    group: int  # query heads that share a key head
    form: str = "dense"  # dense, lengths, packed or pages: how tensors say where sequences end
    has_window: bool = False  # causal only
    softcap: float = 0.0
    has_sinks: bool = False

    def library_name(self):
        columns = f"{self.d_head}" if self.d_head == self.d_head_v else f"{self.d_head}x{self.d_head_v}"
        parts = [f"d{columns}", self.dtype, "causal" if self.causal else "full", f"group{self.group}"]
        parts += [self.form] if self.form != "dense" else []
        parts += ["window"] if self.has_window else []
        parts += [f"softcap{self.softcap:g}"] if self.softcap else []
        return "_".join(parts + ["sinks"] * self.has_sinks) + ".so"


def form_of(inputs):
    if inputs.is_packed:
        return "packed"
    if inputs.page_table is not None:
        return "pages"
    return "dense" if inputs.key_lengths is None else "lengths"


def kernel_for(inputs):
    dtype = str(inputs.q.dtype).removeprefix("torch.")
    return Kernel(inputs.q.shape[3], inputs.v.shape[3], dtype, inputs.causal, inputs.q.shape[2] // inputs.k.shape[2],
                  form_of(inputs), inputs.window > 0, inputs.softcap, inputs.sinks is not None)


def _call_arguments(inputs, tensors, out):
    window = (inputs.window - 1, 0) if inputs.window else (None, None)
    # Not used here: a log-sum-exp before the scale; numbers of queries; after sinks: sparse blocks, other data (2 in
    # one), sums of tiles (2).
    return (*tensors, out, None, float(inputs.scale), inputs.cu_queries, inputs.cu_keys, None, inputs.key_lengths,
            inputs.page_table, *window, inputs.sinks, None, (None, None), None, None)


class Folder:
    """The kernels of a folder. Raises OSError if the script did not make the folder."""

    def __init__(self, path, torch):
        self._path, self._torch = pathlib.Path(path), torch
        try:
            versions = json.loads((self._path / VERSIONS_FILE).read_text(encoding="utf-8"))
            self.version = ", ".join(f"{name} {version}" for name, version in versions.items())
        except (OSError, ValueError, AttributeError) as error:
            raise OSError(f"{path} is no folder that {BUILDER} made: {error}") from error

    def make(self, inputs):
        """Returns a function that queues the kernel on PyTorch's stream and returns O.

        inputs: attention_inputs.Inputs
        """
        if inputs.page_table is not None and inputs.k.shape[1] == OTHER_LOADS_PAGE:
            raise ValueError(f"pages of {OTHER_LOADS_PAGE} keys have a kernel of their own, which is not built")
        library = self._path / kernel_for(inputs).library_name()
        if not library.is_file():
            raise FileNotFoundError(f"there is no {library}; {BUILDER} makes those of its options")
        function = tvm_ffi.load_module(str(library))[FUNCTION]
        tensors = [one[0] for one in (inputs.q, inputs.k, inputs.v)] if inputs.is_packed else [inputs.q, inputs.k,
                                                                                              inputs.v]
        out = inputs.empty_output(self._torch)
        arguments = _call_arguments(inputs, tensors, out[0] if inputs.is_packed else out)

        def launch():
            function(*arguments)
            return out

        return launch
