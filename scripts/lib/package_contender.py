"""The installed package of `fatune export --to torch` as a contender, after its trials."""
import importlib
import importlib.metadata

import choice_figures
import peer_kernels

MOST_CALLS = 100  # of a trial, which takes fewer
FEATURES = frozenset({"lengths", "pages", "softcap", "sinks"})


def _call_of(module, inputs):
    """Returns the package's function for these operands, its arguments and its options."""
    options = {"softmax_scale": inputs.scale, "causal": inputs.causal, "softcap": inputs.softcap,
               "learnable_sink": inputs.sinks}
    operands = inputs.q, inputs.k, inputs.v
    if inputs.key_lengths is None:
        return module.flash_attn_func, operands, options
    return module.flash_attn_with_kvcache, operands, options | {"cache_seqlens": inputs.key_lengths,
                                                                 "block_table": inputs.page_table}


class Package:
    """The package, and what it says of its last problem."""

    def __init__(self, torch, timer):
        self._torch, self._timer = torch, timer
        self._module = importlib.import_module("fatune_attention")
        self.explained = None
        self.peer = peer_kernels.Peer(choice_figures.PACKAGE, importlib.metadata.version("fatune_attention"), self._make,
                                      features=FEATURES)

    def _make(self, inputs):
        function, operands, options = _call_of(self._module, inputs)
        launch = lambda: function(*operands, **options)
        said = self._module.explain(*operands, like=function, **options)
        calls = 0
        while said.step == "predicted" and not said.untuned and not said.tried and calls < MOST_CALLS:
            self._timer.launch_cold(launch)
            self._torch.cuda.synchronize()  # so that each call's time is known before the next one
            said = self._module.explain(*operands, like=function, **options)
            calls += 1
        self.explained = {"config": said.config, "step": said.step, "untuned": said.untuned, "reason": said.reason,
                          "tried": said.tried, "calls": calls}
        return launch
