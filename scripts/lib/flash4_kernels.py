"""FlashAttention-4's kernels, compiled ahead of time to a folder of shared libraries that tvm_ffi loads.

scripts/build_flash4_kernels makes the folder, on a machine with or without a GPU. One library serves all numbers of
queries and keys; where sequences have different numbers of keys, it is another one. No kernel of sm_90 splits keys.
"""
import json
import pathlib

import tvm_ffi

FUNCTION = "flash4_forward"  # in each library
VERSIONS_FILE = "versions.json"
BUILDER = "scripts/build_flash4_kernels"


def library_name(d_head, dtype, causal, group, has_lengths=False):
    """dtype is PyTorch's name. group is the number of query heads that share a key head."""
    return f"d{d_head}_{dtype}_{'causal' if causal else 'full'}_group{group}{'_lengths' if has_lengths else ''}.so"


def _library_for(q, k, causal, has_lengths):
    return library_name(q.shape[3], str(q.dtype).removeprefix("torch."), causal, q.shape[2] // k.shape[2], has_lengths)


def _call_arguments(q, k, v, out, scale, key_lengths):
    # Not used here: a log-sum-exp before the scale; after it, before the number of keys of each sequence, ends of
    # queries, ends of keys, and numbers of queries; and then a page table, a window (2), a sink, sparse blocks, other
    # data (2 in one), sums of tiles (2).
    return q, k, v, out, None, float(scale), None, None, None, key_lengths, *[None] * 5, (None, None), None, None


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
        return self._launch(q, k, v, causal, scale, None)

    def make_for_lengths(self, lengths, q, k, v, causal, scale):
        """As make. lengths: the keys of each sequence"""
        keys = self._torch.tensor(lengths, dtype=self._torch.int32, device=q.device)
        return self._launch(q, k, v, causal, scale, keys)

    def _launch(self, q, k, v, causal, scale, key_lengths):
        library = self._path / _library_for(q, k, causal, key_lengths is not None)
        if not library.is_file():
            raise FileNotFoundError(f"there is no {library}; {BUILDER} makes those of --d-head, --dtype and --group, "
                                    "and with --lengths those for lengths that differ")
        function = tvm_ffi.load_module(str(library))[FUNCTION]
        out = self._torch.empty_like(q)
        arguments = _call_arguments(q, k, v, out, scale, key_lengths)

        def launch():
            function(*arguments)
            return out

        return launch
