"""FlashAttention-4's kernels, compiled ahead of time to a folder of shared libraries that tvm_ffi loads.

scripts/build_flash4_kernels makes the folder, on a machine with or without a GPU. One library serves all lengths.
"""
import json
import pathlib

import tvm_ffi

FUNCTION = "flash4_forward"  # in each library
VERSIONS_FILE = "versions.json"
BUILDER = "scripts/build_flash4_kernels"


def library_name(d_head, dtype, causal, group):
    """dtype is PyTorch's name. group is the number of query heads that share a key head."""
    return f"d{d_head}_{dtype}_{'causal' if causal else 'full'}_group{group}.so"


def _library_for(q, k, causal):
    return library_name(q.shape[3], str(q.dtype).removeprefix("torch."), causal, q.shape[2] // k.shape[2])


def _call_arguments(q, k, v, out, scale):
    # Plain attention does not use the arguments around the scale: a log-sum-exp before it; after it lengths of
    # sequences (4), a page table, a window (2), a sink, sparse blocks, other data (2 in one), sums of tiles (2).
    return q, k, v, out, None, float(scale), *[None] * 9, (None, None), None, None


class Folder:
    """The kernels of a folder. Raises OSError if the script did not make the folder."""

    def __init__(self, path, torch):
        self._path, self._torch = pathlib.Path(path), torch
        try:
            versions = json.loads((self._path / VERSIONS_FILE).read_text(encoding="utf-8"))
            self.version = ", ".join(f"{name} {version}" for name, version in versions.items())
        except (OSError, ValueError, AttributeError) as error:
            raise OSError(f"{path} is no folder that {BUILDER} made: {error}") from error

    def make(self, q, k, v, causal, scale):
        """Returns a function that queues the kernel on PyTorch's stream and returns O."""
        library = self._path / _library_for(q, k, causal)
        if not library.is_file():
            raise FileNotFoundError(f"there is no {library}; {BUILDER} makes those of --d-head and --group")
        function = tvm_ffi.load_module(str(library))[FUNCTION]
        out = self._torch.empty_like(q)
        arguments = _call_arguments(q, k, v, out, scale)

        def launch():
            function(*arguments)
            return out

        return launch
