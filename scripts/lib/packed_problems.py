"""Packed batches for prefill, whose prompts have the lengths of three public collections. BF16, causal."""
import random

SEED = 43
COUNT = 20
# Deciles of the numbers of tokens of a prompt, from the least to the greatest: conversations and completions of code
# from Microsoft Azure's trace of 2023 (19,366 and 8,819 requests; github.com/Azure/AzurePublicDataset,
# data/AzureLLMInferenceTrace_conv.csv and _code.csv, ContextTokens), and papers to be summarised (28,257 of the arXiv
# summarisation data set by Llama 2's tokens, those with at most 4,096 tokens in all; github.com/microsoft/vidur,
# data/processed_traces/arxiv_summarization_stats_llama2_tokenizer_filtered_v2.csv, num_prefill_tokens).
DECILES = {"conversation": (2, 207, 387, 403, 703, 1020, 1071, 1130, 1315, 2734, 14050),
           "code": (3, 147, 386, 770, 1075, 1469, 1909, 2433, 3192, 5186, 7437),
           "papers": (1, 1242, 1802, 2150, 2453, 2730, 2996, 3249, 3490, 3702, 4054)}
# (heads, heads of K and V, head dimension)
HEADS = ((32, 8, 128), (64, 8, 128), (16, 16, 64), (32, 32, 128), (64, 8, 64))
TOKENS = (4096, 8192, 16384, 32768, 65536)  # queries of a batch
CHUNKED_EVERY = 4  # batches: in one of so many, prompts are computed in chunks
CHUNK = 2048  # queries


def length(collection, share):
    """Returns the length that so large a share of the prompts does not exceed, linear between deciles."""
    deciles = DECILES[collection]
    place = share * (len(deciles) - 1)
    below = min(int(place), len(deciles) - 2)
    return round(deciles[below] + (place - below) * (deciles[below + 1] - deciles[below]))


def _chunk(generator, prompt):
    """Returns the queries and keys of one of a prompt's chunks."""
    begin = CHUNK * generator.randrange(-(-prompt // CHUNK))
    queries = min(CHUNK, prompt - begin)
    return queries, begin + queries


def _sequences(generator, collection, tokens, chunked):
    """Returns (queries, keys) of sequences with so many queries in all. The last one is cut."""
    found = []
    while (left := tokens - sum(queries for queries, _ in found)) > 0:
        prompt = length(collection, generator.random())
        queries, keys = _chunk(generator, prompt) if chunked else (prompt, prompt)
        found.append((min(queries, left), keys - max(queries - left, 0)))
    return found


def _text(numbers):
    return ",".join(map(str, numbers))


def problem_of(sequences, heads, kv_heads, d_head):
    """sequences: (queries, keys) of each"""
    queries, keys = zip(*sequences)
    one = {"batch": len(queries), "seq_len": max(queries), "heads": heads, "d_head": d_head, "dtype": "BF16",
           "causal": True, "seq_len_kv": max(keys), "kv_heads": kv_heads, "seq_lens": _text(queries)}
    return one if keys == queries else {**one, "seq_lens_kv": _text(keys)}


def batches():
    """Returns the batches, which are always the same."""
    generator, found = random.Random(SEED), []
    for number in range(COUNT):
        collection = list(DECILES)[number % len(DECILES)]
        tokens = TOKENS[(number + number // len(TOKENS)) % len(TOKENS)]
        chunked = number % CHUNKED_EVERY == CHUNKED_EVERY - 1
        found.append(problem_of(_sequences(generator, collection, tokens, chunked), *HEADS[number % len(HEADS)]))
    return found
