#!/usr/bin/env python3
"""Checks the installed package on this machine's GPU against PyTorch; exit code 0 when all is right, else 1.

With TABLE, the exported library's table.json, it also times the kernels of tuned problems. Each launch follows a write
of twice the L2, as in fatune. Launches take turns with PyTorch's own attention and, with --fatune PROGRAM, with
`fatune run`.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time
import warnings

import torch
from torch.nn.functional import scaled_dot_product_attention as pytorch_attention
import decoding
from random_problems import DTYPES, Problem, errors, exact, operands, random_problems

from fatune_attention import (_fallback, allow_untuned, explain, flash_attn_func, flash_attn_varlen_func,
                              flash_attn_with_kvcache, record, scaled_dot_product_attention, try_kernels)

OPERATORS = torch.ops.fatune_attention
TABLE = pathlib.Path(__file__).resolve().parents[1] / "library" / "table.json"
SMALL = Problem(2, 4, 4, 300, 300, 128, 128, torch.bfloat16, True)
EIGHT_BITS = {"E4M3": torch.float8_e4m3fn, "E5M2": torch.float8_e5m2}
FLUSH_WORDS = 64 * 2**20
MOST_HOST_US = 5.0
MOST_RECORDING_US = 6.0
MOST_SLOWER = 0.03
MOST_TRIAL_CALLS = 90
TRIED = [Problem(batch, heads, kv_heads, rows, keys, d, d, torch.bfloat16, rows > 1)
         for batch, heads, kv_heads, rows, keys in ((3, 16, 4, 1, 5001), (7, 32, 8, 1, 3333), (1, 24, 3, 5, 9999),
                                                    (2, 16, 16, 1777, 1777), (1, 40, 8, 701, 701)) for d in (64, 128)]


class Wrong(Exception):
    pass


def require(right, *what):
    if not right:
        raise Wrong(" ".join(map(str, what)))


def step_of(problem, q, k, v, lse=False):
    text = OPERATORS.explain(q, k, v, *problem.arguments(), lse=lse)
    return dict(line.split("=", 1) for line in text.splitlines())["step"]


def moving_strides(tensor):
    """The strides without those of dimensions of one element, which mean nothing."""
    return [stride for stride, size in zip(tensor.stride(), tensor.shape) if size > 1]


def check_problem(problem, seed):
    """Returns the step by which the problem's kernel was chosen, and the ratio of O's error to that of PyTorch's own
    attention. O may be twice as wrong as attention that is computed step by step in the same precision, which is the
    rule of FlashAttention's tests."""
    q, k, v = operands(problem, seed)
    o, with_lse = OPERATORS.forward(q, k, v, *problem.arguments()), OPERATORS.forward_lse(q, k, v, *problem.arguments())
    worse = []
    for result in (o, with_lse[0]):
        own, pytorchs, unfused = errors(problem, result, q, k, v)
        require(own <= 2 * unfused + 1e-5, problem, "is wrong by", own, "and unfused attention by", unfused)
        worse.append(max(own, 1e-6) / max(pytorchs, 1e-6))
        require(moving_strides(result) == moving_strides(torch.empty_like(q)), problem, "has strides", result.stride())
    torch.testing.assert_close(with_lse[1], exact(problem, q, k, v)[1], atol=2e-3, rtol=1e-3)
    return step_of(problem, q, k, v), max(worse)


def check_problems(options):
    problems = random_problems(options.count, options.seed)
    steps, worse = zip(*(check_problem(problem, seed) for seed, problem in enumerate(problems)))
    counts = {step: steps.count(step) for step in sorted(set(steps))}
    require(counts.get("refused", 0) < len(steps) / 4, "hardly any kernel was eligible:", counts)
    return (f"{len(steps)} problems; error {statistics.geometric_mean(worse):.2f} times that of PyTorch's own attention, "
            f"{max(worse):.2f} at most; steps {counts}")


def flash_rows(q, k, v, **options):
    return flash_attn_func(*(one.transpose(1, 2) for one in (q, k, v)), **options).transpose(1, 2)


def check_functions(options):
    """Checks that the functions return what the operator returns."""
    q, k, v = operands(SMALL)
    expected = OPERATORS.forward(q, k, v, *SMALL.arguments())
    require(torch.equal(scaled_dot_product_attention(q, k, v, is_causal=True), expected), "scaled_dot_product_attention")
    require(torch.equal(flash_rows(q, k, v, causal=True), expected), "flash_attn_func")
    o, lse, _ = flash_attn_func(*(one.transpose(1, 2) for one in (q, k, v)), causal=True, return_attn_probs=True)
    require(torch.equal(o.transpose(1, 2), expected) and lse.shape == q.shape[:3], "return_attn_probs")
    with torch.autocast("cuda", q.dtype):
        require(torch.equal(scaled_dot_product_attention(q.float(), k, v, is_causal=True), expected), "autocast")
    return explain(q, k, v, is_causal=True)


def refused_calls():
    q, k, v = operands(SMALL)
    short = k[:, :, :200], v[:, :, :200]
    yield (q.float(), k.float(), v.float()), {}
    yield (q, *short), {"is_causal": True}
    yield (q, k, v, torch.ones(300, 300, dtype=torch.bool, device="cuda").tril()), {}
    yield (q[:, :, :0], k, v), {}
    yield (q.mT.contiguous().mT, k, v), {}
    yield (q[..., :40], k[..., :40], v[..., :40]), {}
    yield (q, k, v), {"scale": -0.1}
    yield (q[0], k[0], v[0]), {}
    yield (q, k[:, :2], v[:, :2]), {"enable_gqa": True}


def check_refusals(options):
    """Checks that calls that no kernel takes give PyTorch's results, with a warning."""
    for call, keywords in refused_calls():
        actual, expected = scaled_dot_product_attention(*call, **keywords), pytorch_attention(*call, **keywords)
        torch.testing.assert_close(actual, expected, atol=1e-2, rtol=1e-2, equal_nan=True)
    return "as PyTorch"


def check_untuned(options):
    """Checks that PyTorch computes what no tuned problem is like, such as one row in all, until kernels are allowed
    to."""
    call = operands(Problem(1, 1, 1, 1, 300, 128, 128, torch.bfloat16, False))
    allow_untuned(False)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for keys in (300, 299):
                q, k, v = call[0], call[1][:, :, :keys], call[2][:, :, :keys]
                o = scaled_dot_product_attention(q, k, v)
                require(torch.equal(o, pytorch_attention(q, k, v)), "differs from PyTorch's")
        said = [str(one.message) for one in caught if "no tuned problem" in str(one.message)]
        require(len(said) == 1, "not one warning:", said)
        require(explain(q, k, v).untuned, "explain does not say so")
    finally:
        allow_untuned()
    return said[0]


def check_errors(options):
    """Checks that wrong arguments raise what PyTorch raises. PyTorch 2.11 itself crashes on keys with fewer columns
    than queries, the second time."""
    q, k, v = operands(SMALL)
    for call in ((q, k[:, :2], v), (q, k, v[:, :2]), (q, k.half(), v), (q, k.cpu(), v)):
        raised = []
        for function in (pytorch_attention, scaled_dot_product_attention):
            try:
                function(*call)
                raised.append(None)
            except Exception as error:
                raised.append(type(error))
        require(raised[0] is raised[1] and raised[0] is not None, "raised", raised, "for", [x.shape for x in call])
    lengths = torch.ones(2, dtype=torch.int32, device="cuda")
    for wrong in (lengths.long(), lengths[:1], lengths.cpu(), lengths[:, None]):
        try:
            OPERATORS.forward(q, k, v, seq_lens_kv=wrong)
        except RuntimeError as error:
            require("seq_lens_kv" in str(error), error)
        else:
            raise Wrong(f"lengths {wrong} were taken")
    return "as PyTorch"


def check_opcheck(options):
    problems = [problem for problem in random_problems(40, 3) if problem.seq_len < 300][:6]
    for problem in problems:
        for operator in (OPERATORS.forward.default, OPERATORS.forward_lse.default):
            torch.library.opcheck(operator, (*operands(problem), *problem.arguments()), atol=2e-2, rtol=2e-2)
    problem = Problem(3, 8, 2, 2, 200, 128, 128, torch.bfloat16, True)
    lengths = torch.tensor([200, 0, 77], dtype=torch.int32, device="cuda")
    for operator in (OPERATORS.forward.default, OPERATORS.forward_lse.default):
        torch.library.opcheck(operator, (*operands(problem), *problem.arguments(), lengths), atol=2e-2, rtol=2e-2)
    return f"{len(problems)} problems, and one with lengths of keys"


def check_compile(options):
    def layer(q, k, v):
        return scaled_dot_product_attention(q * 1.5, k, v, is_causal=True).transpose(1, 2).reshape(q.size(0), -1) + 1

    for dynamic in (False, True):
        compiled = torch.compile(layer, fullgraph=True, dynamic=dynamic)
        for rows in (300, 301, 512):
            call = operands(Problem(**{**vars(SMALL), "seq_len": rows, "seq_len_kv": rows}))
            torch.testing.assert_close(compiled(*call), layer(*call), atol=2e-2, rtol=2e-2)
    reduced = torch.compile(layer, fullgraph=True, mode="reduce-overhead")
    for _ in range(4):
        torch.testing.assert_close(reduced(*call).clone(), layer(*call), atol=2e-2, rtol=2e-2)
    return "no break in the graph; also with CUDA graphs"


def check_graph(options):
    """Checks that a captured call computes on what its tensors hold at the replay. Some kernels need a workspace."""
    for problem in random_problems(12, 5):
        q, k, v = (one.clone() for one in operands(problem))
        OPERATORS.forward(q, k, v, *problem.arguments())
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            o = OPERATORS.forward(q, k, v, *problem.arguments())
        for seed in (7, 8, 9):
            for one, new in zip((q, k, v), operands(problem, seed)):
                one.copy_(new)
            graph.replay()
            require(torch.equal(o, OPERATORS.forward(q, k, v, *problem.arguments())), problem, "differs in a graph")
    return "12 problems captured and replayed"


def tuned_kinds(options, kv_dtype=None):
    """The element types and head dimensions of the table's problems, or of those with this type of K and V."""
    rows = json.loads(options.table.read_text())["rows"] if options.table.exists() else []
    problems = [row["problem"] for row in rows]
    kinds = {(DTYPES[one["dtype"]], one["d_head"]) for one in problems if kv_dtype in (None, one["kv_dtype"])}
    return sorted(kinds, key=str) or ([] if kv_dtype else [(torch.bfloat16, 128)])


def decode(problem, q, k, v, lengths):
    return flash_attn_with_kvcache(q, k, v, cache_seqlens=lengths, return_softmax_lse=True, **decoding.options(problem))


def check_decode(options):
    """Checks caches of sequences that differ in length, with NaN behind each sequence's last key."""
    problems = decoding.random_decoding(max(1, options.count // 4), options.seed, tuned_kinds(options))
    steps = []
    for seed, problem in enumerate(problems):
        q, k, v = decoding.caches(problem, seed)
        lengths = decoding.random_lengths(problem, seed)
        decoding.poison(lengths, k, v)
        results = decode(problem, q, k, v, lengths.cuda())
        fault = decoding.fault(problem, lengths, *results, q, k, v)
        require(fault is None, problem, fault)
        steps.append(explain(q, k, v, cache_seqlens=lengths.cuda(), return_softmax_lse=True,
                             like=flash_attn_with_kvcache, **decoding.options(problem)).step)
        least = int(lengths.min())
        if least > 0:
            for one, same in zip(decode(problem, q, k, v, least),
                                 decode(problem, q, k, v, torch.full_like(lengths, least).cuda())):
                torch.testing.assert_close(one, same, atol=2e-2, rtol=2e-2)
    return counted(steps)


def counted(steps):
    return f"{len(steps)} problems; steps { {step: steps.count(step) for step in sorted(set(steps))} }"


def check_pages(options):
    """Checks caches in pages in a random order. What PyTorch computes, for lack of a kernel, counts as refused."""
    problems = decoding.random_decoding(max(1, options.count // 4), options.seed + 2, tuned_kinds(options))
    steps = []
    for seed, problem in enumerate(problems):
        q, k, v = decoding.caches(problem, seed)
        lengths = decoding.random_lengths(problem, seed)
        decoding.poison(lengths, k, v)
        table, *pools = decoding.in_pages((16, 64, 256)[seed % 3], seed, k, v)
        call = dict(cache_seqlens=lengths.cuda(), block_table=table, return_softmax_lse=True, **decoding.options(problem))
        fault = decoding.fault(problem, lengths, *flash_attn_with_kvcache(q, *pools, **call), q, k, v)
        require(fault is None, problem, "in pages of", pools[0].size(1), fault)
        steps.append(explain(q, *pools, like=flash_attn_with_kvcache, **call).step)
    return counted(steps)


def check_eight_bits(options):
    """Checks caches of 8 bits with scales of heads, as they are and in pages."""
    kinds = {name: tuned_kinds(options, name) for name in EIGHT_BITS}
    problems = [(EIGHT_BITS[name], problem) for name, of_type in kinds.items() if of_type
                for problem in decoding.random_decoding(max(1, options.count // 4), options.seed + 4, of_type)]
    steps = []
    for seed, (kind, problem) in enumerate(problems):
        q, *caches = decoding.caches(problem, seed)
        lengths = decoding.random_lengths(problem, seed)
        stored, scales, meant = decoding.in_8_bits(kind, lengths, *caches)
        call = dict(cache_seqlens=lengths.cuda(), k_descale=scales[0], v_descale=scales[1], return_softmax_lse=True,
                    **decoding.options(problem))
        table, *pools = decoding.in_pages((16, 64)[seed % 2], seed, *(one.view(torch.uint8) for one in stored), filling=255)
        for own, more in ((stored, {}), ([one.view(kind) for one in pools], {"block_table": table})):
            fault = decoding.fault(problem, lengths, *flash_attn_with_kvcache(q, *own, **call, **more), q, *meant)
            require(fault is None, problem, "in", kind, "with", *more, fault)
            steps.append(explain(q, *own, like=flash_attn_with_kvcache, **call, **more).step)
    return counted(steps) if problems else "no tuned problem has K and V of 8 bits"


def packed_arrays(queries, keys, has_pages):
    """The arguments of flash_attn_varlen_func that say how long the sequences are."""
    lengths = (("seqused_k", torch.tensor(keys, dtype=torch.int32, device="cuda")) if has_pages else
               ("cu_seqlens_k", decoding.starts_of(keys)))
    return dict([("cu_seqlens_q", decoding.starts_of(queries)), lengths])


def packed_steps(options, page_sizes):
    """Checks packed sequences, of no row too, alone and in a CUDA graph whose lengths change. Page size 0: keys are packed,
    too. Returns by which steps kernels were chosen."""
    steps = []
    for seed, (problem, queries, keys) in enumerate(
            decoding.random_packed(max(1, options.count // 4), options.seed, tuned_kinds(options))):
        q, k, v = (one[0] for one in decoding.caches(problem, seed))
        page_size = page_sizes[seed % len(page_sizes)]
        call = dict(packed_arrays(queries, keys, page_size > 0), max_seqlen_q=max(queries), max_seqlen_k=max(keys),
                    return_attn_probs=True, **decoding.options(problem))
        operands = k, v
        if page_size > 0:
            call["block_table"], *operands = decoding.packed_in_pages(page_size, seed, keys, k, v)
        o, lse, _ = flash_attn_varlen_func(q, *operands, **call)
        fault = decoding.packed_fault(problem, queries, keys, o, lse, q, k, v)
        require(fault is None, problem, queries, keys, "in pages of", page_size, fault)
        steps.append(explain(q, *operands, like=flash_attn_varlen_func, **call).step)
        if seed < 8 and steps[-1] != "refused":
            require_right_replay(problem, queries, keys, (q, k, v), operands, call)
    return steps


def require_right_replay(problem, queries, keys, packed, operands, call):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        o, lse, _ = flash_attn_varlen_func(packed[0], *operands, **call)
    q, k, v = packed
    if "block_table" in call:
        call["block_table"].copy_(call["block_table"].flip(0))
        k, v = (torch.cat(one.split(keys)[::-1]) for one in (k, v))
    queries, keys = queries[::-1], keys[::-1]
    for name, array in packed_arrays(queries, keys, "block_table" in call).items():
        call[name].copy_(array)
    graph.replay()
    fault = decoding.packed_fault(problem, queries, keys, o, lse, q, k, v)
    require(fault is None, problem, queries, keys, "in a graph:", fault)


def check_packed(options):
    return counted(packed_steps(options, (0,)))


def check_chunks(options):
    """Checks packed queries of sequences whose keys are in pages in a random order, as in chunked prefill."""
    return counted(packed_steps(options, (16, 64, 256)))


def check_decode_graph(options):
    """Checks that a captured call computes with the lengths and caches that its tensors hold at the replay."""
    problems = decoding.random_decoding(10, options.seed + 1, tuned_kinds(options))
    for problem in problems:
        q, k, v = decoding.caches(problem, 1)
        lengths = decoding.random_lengths(problem, 1).cuda()
        decode(problem, q, k, v, lengths)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            results = decode(problem, q, k, v, lengths)
        for seed in range(2, 7):
            new = decoding.random_lengths(problem, seed)
            for one, other in zip((q, k, v), decoding.caches(problem, seed)):
                one.copy_(other)
            decoding.poison(new, k, v)
            lengths.copy_(new)
            graph.replay()
            fault = decoding.fault(problem, new, *results, q, k, v)
            require(fault is None, problem, "in a graph:", fault)
    return f"{len(problems)} problems captured, and replayed with 5 sets of lengths each"


def check_decode_host(options):
    """Checks that lengths make a call of the operator at most 1.4 times as long for the host. PyTorch takes about 3 us
    to pass a fourth tensor to an operator, whatever the operator does with it: measured were 16.3 us with lengths and
    13.1 us without."""
    dtype, d_head = tuned_kinds(options)[0]
    problem = Problem(4, 8, 2, 1, 256, d_head, d_head, dtype, False)
    q, k, v = decoding.caches(problem, 1)
    lengths = torch.full((4,), 200, dtype=torch.int32, device="cuda")
    call = [one.transpose(1, 2) for one in (q, k, v)]
    chosen = explain(q, k, v, cache_seqlens=lengths, like=flash_attn_with_kvcache)
    calls = {"flash_attn_with_kvcache": lambda: flash_attn_with_kvcache(q, k, v, cache_seqlens=lengths),
             "operator with lengths": lambda: OPERATORS.forward.default(*call, False, 0, None, True, lengths),
             "operator without": lambda: OPERATORS.forward.default(*call, False, 0, None, True),
             "PyTorch's without": lambda: pytorch_attention(*call, enable_gqa=True)}
    times = {name: host_us(call) for name, call in calls.items()}
    text = ", ".join(f"{name} {us:.2f} us" for name, us in times.items())
    require(chosen.step == "refused" or times["operator with lengths"] <= 1.4 * times["operator without"], text)
    return f"{text}; {chosen.config or chosen.reason}"


def results_on(stream, problems, sink):
    with torch.cuda.stream(stream):
        for _ in range(20):
            sink.append([OPERATORS.forward(*operands, *problem.arguments()) for problem, operands in problems])


def check_concurrent(run):
    """`run` calls results_on() for two streams. Checks that each problem has the same results as alone."""
    problems = [(problem, operands(problem)) for problem in random_problems(8, 11)]
    expected = [OPERATORS.forward(*one, *problem.arguments()) for problem, one in problems]
    torch.cuda.synchronize()
    sinks = [], []
    run([(torch.cuda.Stream(), problems, sink) for sink in sinks])
    torch.cuda.synchronize()
    require(len(sinks[0]) == len(sinks[1]) == 20, "a stream did not finish")
    for results in sinks[0] + sinks[1]:
        for (problem, _), one, right in zip(problems, results, expected):
            require(torch.equal(one, right), problem, "differs beside another stream")
    return "the same bits as alone"


def check_streams(options):
    def run(calls):
        for _ in range(20):
            for stream, problems, sink in calls:
                with torch.cuda.stream(stream):
                    sink.append([OPERATORS.forward(*one, *problem.arguments()) for problem, one in problems])

    return check_concurrent(run)


def check_threads(options):
    def run(calls):
        threads = [threading.Thread(target=results_on, args=call) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return check_concurrent(run)


def check_devices(options):
    """Checks tensors of another GPU than the current one."""
    if torch.cuda.device_count() < 2:
        return "one GPU: not checked"
    q, k, v = operands(SMALL)
    other = OPERATORS.forward(*(one.to("cuda:1") for one in (q, k, v)), *SMALL.arguments())
    require(torch.equal(other.to("cuda:0"), OPERATORS.forward(q, k, v, *SMALL.arguments())), "differs on the other GPU")
    return "the same bits on another GPU"


def host_us(function, calls=100, batches=40):
    """Microseconds of host time per call: the median over batches that the GPU does not hold up."""
    times = []
    for _ in range(batches):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        times.append((time.perf_counter() - begin) / calls * 1e6)
    return statistics.median(times)


def check_host(options):
    q, k, v = operands(Problem(1, 4, 4, 128, 128, 128, 128, torch.bfloat16, True))
    calls = {"scaled_dot_product_attention": lambda: scaled_dot_product_attention(q, k, v, is_causal=True),
             "operator": lambda: OPERATORS.forward.default(q, k, v, *SMALL.arguments()),
             "empty_like": lambda: torch.empty_like(q),
             "PyTorch's": lambda: pytorch_attention(q, k, v, is_causal=True)}
    times = {name: host_us(call) for name, call in calls.items()}
    own, pytorchs = times["scaled_dot_product_attention"], times["PyTorch's"]
    require(own < max(MOST_HOST_US, pytorchs), "host time", times)
    return ", ".join(f"{name} {us:.2f} us" for name, us in times.items())


def trial_of(problem, seed):
    """Calls a problem until its trial has ended. Returns (the number of calls, what explain() then says), or None if
    nothing is tried."""
    call = operands(problem, seed)
    rows = [one.transpose(1, 2) for one in call]
    expected = OPERATORS.forward(*call, *problem.arguments()).transpose(1, 2)
    explained = lambda: explain(*rows, causal=problem.causal, like=flash_attn_func)
    if explained().step != "predicted":
        return None
    for calls in range(1, MOST_TRIAL_CALLS):
        torch.testing.assert_close(flash_attn_func(*rows, causal=problem.causal), expected, atol=2e-2, rtol=2e-2)
        torch.cuda.synchronize()
        said = explained()
        if said.tried:
            return calls, said
    raise Wrong(problem, "the trial does not end")


def check_trials(options):
    """Checks that trials of problems that were not tuned end, in as many calls as they may take, with right results."""
    try_kernels()
    try:
        ended = [trial_of(problem, seed) for seed, problem in enumerate(TRIED)]
    finally:
        try_kernels(False)
    ended = [one for one in ended if one]
    require(ended, "no problem's time is predicted")
    return f"{len(ended)} ended, after at most {max(calls for calls, _ in ended)} calls"


def check_record(options):
    """Checks counts, lengths that only the GPU knows, and times of recorded calls, and how much host time it takes."""
    q, k, v = operands(Problem(2, 4, 2, 1, 4096, 128, 128, torch.bfloat16, False))
    rows = [one.transpose(1, 2) for one in (q, k, v)]
    lengths = torch.tensor([40, 3072], dtype=torch.int32, device="cuda")
    pytorchs = host_us(lambda: pytorch_attention(q, k, v, enable_gqa=True))
    calls = {"scaled_dot_product_attention": lambda: scaled_dot_product_attention(q, k, v, enable_gqa=True),
             "flash_attn_with_kvcache": lambda: flash_attn_with_kvcache(*rows, cache_seqlens=lengths)}
    alone = {name: host_us(call) for name, call in calls.items()}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "calls.jsonl"
        with record(file):
            more = {name: host_us(call) - alone[name] for name, call in calls.items()}
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                calls["flash_attn_with_kvcache"]()
            graph.replay()
            torch.cuda.synchronize()
            calls["flash_attn_with_kvcache"]()
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    require([line["calls"] for line in lines] == [4000, 4002], lines)
    require(lines[1].get("seq_lens_kv") == "3072,40" and all(0 < line["time_us"] < 1000 for line in lines), lines)
    require(max(more.values()) < max(MOST_RECORDING_US, pytorchs), "more host time:", more, "PyTorch's call", pytorchs)
    return ", ".join(f"{name} {alone[name]:.2f} + {us:.2f} us" for name, us in more.items()) + ", times " + ", ".join(
        f"{line['time_us']:.1f} us" for line in lines)


def cold_us(functions, flush, rounds):
    """Medians of the GPU times in microseconds. The functions take turns."""
    events = [[] for _ in functions]
    for number in range(rounds + 2):
        for taken, function in zip(events, functions):
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flush.max()  # reads: after writes, the L2 would still hold lines to be written back
            torch.cuda._sleep(300_000)  # the host runs ahead
            start.record()
            function()
            stop.record()
            taken.append((start, stop))
        torch.cuda.synchronize()
    return [statistics.median(start.elapsed_time(stop) * 1e3 for start, stop in taken[2:]) for taken in events]


def row_problem(row):
    p = row["problem"]
    return Problem(p["batch"], p["heads"], p["kv_heads"], p["seq_len"], p["seq_len_kv"], p["d_head"], p["d_head_v"],
                   DTYPES[p["dtype"]], p["causal"], p["window"], None, p["layout"])


def fatune_us(program, problem, config):
    """The time that fatune measures now."""
    command = [program, "run", "--config", config, "--seq", problem.seq_len, "--seq-kv", problem.seq_len_kv, "--batch",
               problem.batch, "--heads", problem.heads, "--kv-heads", problem.kv_heads, "--layout", problem.layout,
               *(["--causal"] if problem.causal else []), "--no-db", "--format", "json", "--quiet"]
    out = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)["problems"][0]["ranking"][0]["time_us"]


def time_row(problem, flush, fatune):
    """Returns three times in microseconds: the table's, or with `fatune` what fatune measures in turns; the one
    measured here; PyTorch's. Returns None if the problem was tuned on another GPU."""
    q, k, v = operands(problem)
    chosen = explain(*(one.transpose(1, 2) for one in (q, k, v)), causal=problem.causal, like=flash_attn_func)
    if chosen.step != "exact":
        return None
    promised, own, pytorchs = [], [], []
    for _ in range(3):
        promised.append(fatune_us(fatune, problem, chosen.config) if fatune else chosen.tuned_us)
        times = cold_us([lambda: OPERATORS.forward(q, k, v, *problem.arguments()),
                         lambda: _fallback.attention_of_tensors(q, k, v, *problem.mask())], flush, 20)
        own.append(times[0])
        pytorchs.append(times[1])
    return [statistics.median(times) for times in (promised, own, pytorchs)]


def check_times(options):
    """Only times measured in turns with fatune, on the same GPU at the same temperature, may count as too slow."""
    if not options.table.exists():
        return f"no {options.table}: not checked"
    flush = torch.zeros(FLUSH_WORDS, dtype=torch.int32, device="cuda")
    rows = json.loads(options.table.read_text())["rows"]
    slower, slow, speedups = [], [], []
    for problem in [row_problem(row) for row in rows if not row["problem"]["window"]][:: options.every]:
        times = time_row(problem, flush, options.fatune)
        if times is not None:
            slower.append(times[1] / times[0] - 1)
            speedups.append(times[2] / times[1])
            if slower[-1] > MOST_SLOWER:
                slow.append(f"{problem.dtype} {problem.seq_len} x {problem.d_head} causal {problem.causal}: "
                            f"{times[1]:.1f} us, not {times[0]:.1f}")
    require(not slow or not options.fatune, "slower than fatune measures:", "; ".join(slow))
    if not slower:
        return "no problem of the table was tuned on this GPU: not checked"
    return (f"{len(slower)} problems: {statistics.median(slower):+.1%} of "
            f"{'what fatune measures in turns' if options.fatune else 'the time in the table'} in the median, "
            f"{max(slower):+.1%} at worst; {statistics.geometric_mean(speedups):.2f} times as fast as PyTorch's")


CHECKS = {name.removeprefix("check_"): function for name, function in globals().items()
          if name.startswith("check_") and name not in ("check_problem", "check_concurrent")}


def run_check(name, options):
    try:
        print(f"{name:10} ok      {CHECKS[name](options)}", flush=True)
        return True
    except Exception as error:
        print(f"{name:10} WRONG   {type(error).__name__}: {error}", flush=True)
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checks", nargs="*", default=list(CHECKS), help=", ".join(CHECKS))
    parser.add_argument("--count", type=int, default=200, help="random problems")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", type=pathlib.Path, default=TABLE)
    parser.add_argument("--fatune", help="program that measures the kernels in turns with this one")
    parser.add_argument("--every", type=int, default=1, help="times each so many-th tuned problem")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    allow_untuned()
    try_kernels(False)  # results are compared bit by bit
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {options.count} random problems", flush=True)
    with torch.no_grad():
        return 0 if all([run_check(name, options) for name in options.checks]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
