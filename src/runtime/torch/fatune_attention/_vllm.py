"""A backend of vLLM: its FlashAttention backend, whose attention is the package's where a tuned kernel computes it.

vLLM imports this module when CUSTOM, which register_with_vllm() registers, is its attention backend."""
import torch
from vllm.v1.attention.backend import AttentionCGSupport, AttentionType
from vllm.v1.attention.backends.flash_attn import (FlashAttentionBackend, FlashAttentionImpl,
                                                   FlashAttentionMetadataBuilder)

from ._serving import attention

# What the kernels are told of a batch, and what says only how FlashAttention computes it.
_KNOWN = {"num_actual_tokens", "max_query_len", "query_start_loc", "max_seq_len", "seq_lens", "block_table",
          "slot_mapping", "causal", "scheduler_metadata", "max_num_splits"}


def _is_plain(metadata):
    """Whether the batch has a causal mask and nothing that the kernels are not told of, such as ranges of images."""
    rest = (value for name, value in vars(metadata).items() if name not in _KNOWN)
    return metadata.causal is True and not any(isinstance(value, torch.Tensor) or value for value in rest)


class Impl(FlashAttentionImpl):
    """Attention of a layer."""

    def _suits(self, query, kv_cache, metadata, *output_scales):
        """Whether the package's function can be told of the call. The cache is (pages, heads, keys of a page, 2 d)."""
        return (metadata is not None and _is_plain(metadata) and self.attn_type == AttentionType.DECODER
                and self.alibi_slopes is None and self.dcp_world_size == 1
                and all(scale is None for scale in output_scales)
                and kv_cache.shape[1::2] == (self.num_kv_heads, 2 * self.head_size)
                and kv_cache.dtype == query.dtype)

    def forward(self, layer, query, key, value, kv_cache, attn_metadata, output, output_scale=None,
                output_block_scale=None):
        def own():
            return FlashAttentionImpl.forward(self, layer, query, key, value, kv_cache, attn_metadata, output,
                                              output_scale, output_block_scale)

        if not self._suits(query, kv_cache, attn_metadata, output_scale, output_block_scale):
            return own()
        rows = attn_metadata.num_actual_tokens
        k, v = kv_cache.transpose(1, 2).split(self.head_size, -1)
        attention("vLLM", own, output[:rows], q=query[:rows], k=k, v=v, cu_seqlens_q=attn_metadata.query_start_loc,
                  seqused_k=attn_metadata.seq_lens, max_seqlen_q=attn_metadata.max_query_len,
                  max_seqlen_k=attn_metadata.max_seq_len, block_table=attn_metadata.block_table,
                  softmax_scale=self.scale, causal=True, window_size=self.sliding_window,
                  softcap=float(self.logits_soft_cap), learnable_sink=self.sinks)
        return output


class Builder(FlashAttentionMetadataBuilder):
    # Batches with prompts are not captured: a kernel's grid would follow from the whole batch as one sequence.
    _cudagraph_support = AttentionCGSupport.UNIFORM_BATCH


class Backend(FlashAttentionBackend):
    @staticmethod
    def get_name():
        return "CUSTOM"

    @staticmethod
    def get_impl_cls():
        return Impl

    @staticmethod
    def get_builder_cls():
        return Builder

    @classmethod
    def supports_batch_invariance(cls):
        return False  # the choice of a kernel depends on the batch
