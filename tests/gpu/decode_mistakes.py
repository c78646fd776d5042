#!/usr/bin/env python3
"""Plants mistakes in flash_decode and flash_decode_sm80, one at a time. With --emulate, 'fatune emulate' must find each without a GPU, must
name what leads to it, and must find nothing on a problem where the mistake has no effect. 'fatune check', emulated or
on a GPU, must name the rows of those that make numbers wrong in every run.

Each mistake is a substitution. Where the kernel has changed, the script says which text it no longer finds.
Needs only Python: decode_mistakes.py --fatune build/ci/bin/fatune --kernels kernels
"""

import argparse
import dataclasses
import re
import sys

from sweep_tools import print_table, report_on_broken, skip_without_gpu

# 330 keys are two parts of two steps, and one whose second step has 10 keys.
CONFIG = "(FP16, 64, 8, 64, 2, 1): parts_128"
SHAPE = {"--seq": "2", "--seq-kv": "330", "--heads": "4", "--kv-heads": "2", "--batch": "1"}
SHARED = CONFIG + "+shared_sums"
WIDE = "(FP16, 128, 8, 64, 2, 1): parts_128"
TALL = "(FP16, 64, 128, 64, 3, 1): parts_512"
LENGTHS = {"--batch": "2", "--seq-kv-lens": "330,100"}
ONE_PART = {"--seq-kv": "128"}
SINKS = {"--sinks": ""}
SOFTCAP = {"--softcap": "2"}
CAPS = """#pragma unroll
    for (int m = 0; m < S::kKeyTiles; ++m) {
      cap_scores<S::kScores>(s[m], work_);
    }
"""
MASKS = "    mask(s, part, at * S::kStepKeys);\n"
TAILS = """    if (at + 1 == part.end) {
      clear_values_behind<S>(work_, part, smem_, stage);
    }
"""
PAGES = {"--page-size": "16"}
EIGHT_BITS = {"--kv-dtype": "e4m3", "--kv-scales": "head"}
EIGHT_BITS_BF16 = "(BF16, 64, 8, 64, 2, 1): parts_128"
ONE_SCALE = {"--kv-scales": "tensor"}
KEY_SCALES = {"--kv-scales": "token"}
LATENT = "(BF16, 576, 64, 64, 2, 1): parts_512"
LATENT_SHAPE = {"--seq": "1", "--seq-kv": "190", "--heads": "16", "--kv-heads": "1", "--dhead-v": "512", "--latent": ""}
LATENT_CLUSTER = {**LATENT_SHAPE, "--heads": "128"}  # two tiles of rows
# Two parts of one tile of rows.
MERGED = "(BF16, 576, 64, 64, 2, 1): parts_128+shared_sums"
# More sequences than a warp has lanes: their parts are counted in shared memory.
MANY_LENGTHS = {"--batch": "33", "--seq-kv-lens": ",".join(["190"] + 32 * ["64"])}
LATENT_LENGTHS = {**LATENT_SHAPE, "--batch": "2", "--seq-kv-lens": "190,100"}
ONE_LATENT_PART = {**LATENT_SHAPE, "--seq-kv": "128"}
# Blocks have four parts, so that slots for parts are used again.
SHARED_STEPS = "(FP16, 64, 8, 64, 2, 1): parts_128+shared_sums"
SLOTS_IN_TURN = {"--seq": "1", "--seq-kv": "960", "--heads": "60", "--kv-heads": "60", "--batch": "1"}
COUNTER_LAGS = {"--timing": "lagging", "--seed": "5", "--schedules": "1"}
SM80 = "(FP16, 64, 16, 64, 3, 4, 1): parts_128"
SM80_SHARED = SM80 + "+shared_sums"
# Q is not kept in registers.
SM80_QUERY_STAYS = "(FP16, 256, 16, 64, 2, 4, 1): parts_64"
MANY_PARTS = {"--seq": "1", "--seq-kv": "384", "--heads": "48", "--kv-heads": "24", "--batch": "2", "--schedules": "1"}


@dataclasses.dataclass
class Mistake:
    """What the emulator must say: the outcome wrong_result, or the kind of the first finding; and a pattern in its
    text. file and source are relative to the family's folder."""
    name: str
    file: str
    old: str
    new: str
    kind: str
    says: str
    source: str = ""  # of the first finding: a pattern
    shape: dict = dataclasses.field(default_factory=dict)  # changes of SHAPE
    config: str = CONFIG
    family: str = "flash_decode"
    right_on: dict | None = None  # changes of SHAPE with which the mistake has no effect
    times: int = 1  # how often `old` is in the file
    of_several_heads: bool = False  # without a GPU, 'fatune check' takes one head of keys, where all is right


MISTAKES = [
    Mistake("lost part", "output.cuh", "part + i * every < end", "part + i * every < end - 1",
            "wrong_result", "values mismatch", right_on=ONE_PART),
    Mistake("double count", "output.cuh", "sums += between;", "sums += i > 0 ? between : 0;",
            "wrong_result", "values mismatch", right_on=ONE_PART),
    Mistake("wrong reference", "output.cuh", "loaded[i].raise(raised[0], raised[1],",
            "loaded[i].raise(loaded[i].state.x, loaded[i].state.z,",
            "wrong_result", "values mismatch", right_on=ONE_PART),
    Mistake("wrong head", "output.cuh", "packed - query * work_.group", "(packed + 1) % work_.group",
            "wrong_result", r"input normal: .*\(100.00%\)", right_on={"--kv-heads": "4"}),
    Mistake("short part", "part_schedule.cuh", "part.step + work.part_steps)", "part.step + work.part_steps - 1)",
            "wrong_result", "input dominating_key", right_on={"--seq-kv": "64"}),
    Mistake("keys past the end", "seen_keys.cuh", "first + count > seen_keys", "first >= seen_keys",
            "wrong_result", "input normal", right_on={"--seq-kv": "256"}),
    Mistake("length ignored", "part_schedule.cuh", "__ldg(work.seq_lens_kv + batch)", "work.seq_len_kv",
            "out_of_bounds", "after the end of parts", shape=LENGTHS, right_on={"--batch": "2", "--seq-kv-lens": "330,330"}),
    Mistake("sequences of a class in one place", "part_schedule.cuh", "static_cast<unsigned>(31 - lane_) << 21", "0",
            "barrier_misuse", "1 arrivals", shape={"--batch": "2", "--seq-kv-lens": "330,330"}, right_on=LENGTHS),
    Mistake("tail of V", "values_end.cuh", "kPageSize == 0 && work.seq_lens_kv == nullptr", "true",
            "wrong_result", "input normal", shape=LENGTHS, right_on={"--batch": "2", "--seq-kv-lens": "256,128"}),
    Mistake("sink in each part", "row_sink.cuh", "part.index == 0 ?", "true ?",
            "wrong_result", "input normal", shape=SINKS, right_on={**SINKS, **ONE_PART}),
    Mistake("sink of another head", "row_sink.cuh", "work.group + of_group", "work.group",
            "wrong_result", "values mismatch", shape=SINKS, right_on={**SINKS, "--kv-heads": "4"}),
    Mistake("cap after the mask", "short_consumer.cuh", CAPS + MASKS, MASKS + CAPS,
            "wrong_result", "values mismatch", shape=SOFTCAP, right_on={**SOFTCAP, "--seq-kv": "256"}),
    Mistake("stale count of parts", "counter.cuh", "count_one(counter, part.parts - 1)", "count_one(counter)",
            "launch_dependent", "right in the first launch, wrong in launch 2", right_on=ONE_PART),
    Mistake("stale next part", "producer.cuh", "*work_.next_part = 0;", "",
            "launch_dependent", "right in the first launch, wrong in launch 2", shape=MANY_PARTS, right_on={}),
    Mistake("no fence before counting", "counter.cuh", "fence_counts();\n      if", "if",
            "race", "reads parts .* which thread 0 of block 0 writes, with no synchronisation", "^output.cuh",
            right_on=ONE_PART),
    Mistake("no fence after counting", "counter.cuh", "fence_counts();\n        }", "}",
            "race", "reads parts .* which thread 0 of block 0 writes, with no synchronisation", "^output.cuh",
            right_on=ONE_PART),
    Mistake("no wait for parts", "consume.cuh", "ld_global_acquire(counter) < part.parts", "false",
            "race", r"reads parts .* which thread \d+ of block \d+ writes, with no synchronisation", "^output.cuh",
            config=SHARED, right_on=ONE_PART),
    Mistake("no wait for a tile", "short_products.cuh",
            "mbarrier_wait(smem_ + Plan::full_k(stage.index), stage.parity);", "",
            "in_flight", "multiplies .* while an asynchronous copy of thread 128", "short_consumer.cuh"),
    Mistake("no wait for an empty tile", "producer.cuh",
            "const {\n    mbarrier_wait(Plan::empty(full), stage_.parity ^ 1);", "const {",
            "barrier_misuse", "the mbarrier's phase 0 waits for 0 of 1 arrivals", "producer.cuh",
            config="(FP16, 64, 8, 64, 2, 1): parts_512", right_on=ONE_PART),
    Mistake("no proxy fence before the second product", "short_consumer.cuh", "fence_async_proxy();", "",
            "missing_proxy_fence", r"multiplies sP \[row 0, col 0\] .* no fence.proxy.async", "short_consumer.cuh"),
    Mistake("no barrier before the second product", "short_consumer.cuh",
            "named_barrier_wait(kConsumerBarrier, S::kConsumers);\n    dump.softmax", "dump.softmax",
            "race", r"multiplies sP \[row 0, col \d+\], which thread \d+ .* writes, with no synchronisation", "short_consumer.cuh"),
    Mistake("part freed before it is stored", "counter.cuh",
            """if (part.item < 0) {
      mbarrier_wait(smem + Plan::stored(slot.index), slot.parity);
    }
    // Not before: `stored` could complete again, for the part after the next, before this wait.
    mbarrier_arrive(Plan::empty(full));""",
            """mbarrier_arrive(Plan::empty(full));
    if (part.item < 0) {
      mbarrier_wait(smem + Plan::stored(slot.index), slot.parity);
    }""",
            "divergent_barrier", "no warp can go on", "consume.cuh", config=SHARED_STEPS,
            shape={**SLOTS_IN_TURN, **COUNTER_LAGS}, right_on={**SLOTS_IN_TURN, **COUNTER_LAGS, "--seq-kv": "128"}),
    Mistake("no wait for scores", "tall_consumer.cuh", "wgmma_wait<1>();", "wgmma_wait<2>();",
            "pending_registers", "which a wgmma that no thread has waited for may still write", config=TALL, shape={"--seq": "40"}),
    Mistake("tail of V in its last page", "values_end.cuh", "kPageSize == 0 && work.seq_lens_kv == nullptr", "true",
            "wrong_result", "input normal", shape=PAGES, right_on={**PAGES, "--seq-kv": "320"}),
    Mistake("table of another sequence", "kernel_args.cuh", "work.page_table + static_cast<long long>(batch)",
            "work.page_table + static_cast<long long>(batch > 0 ? batch - 1 : 0)",
            "wrong_result", "values mismatch", shape={**PAGES, **LENGTHS}, right_on=PAGES),
    Mistake("stride of pages", "../common/step_pages.cuh", "first_key + number(i) * kBoxKeys",
            "first_key + number(i) * (kBoxKeys / 2)",
            "wrong_result", "values mismatch", shape=PAGES, right_on={"--page-size": "64"}),
    Mistake("row of a page", "../common/step_pages.cuh", "first_key % kPageSize", "0",
            "wrong_result", "values mismatch", shape={"--page-size": "128"}, right_on={"--page-size": "64"}),
    Mistake("place of a page", "pages.cuh", "box * (kPageSize * S::kLineBytes * S::kKvPanels)", "box % 2 * (kPageSize * S::kLineBytes * S::kKvPanels)",
            "in_flight", "while an asynchronous copy of thread 128", shape=PAGES, right_on={"--page-size": "32"}),
    Mistake("place of a panel of a small page", "pages.cuh", "box * (kPageSize * S::kLineBytes),", "box % 2 * (kPageSize * S::kLineBytes),",
            "in_flight", "while an asynchronous copy of thread 128", shape={"--page-size": "4"},
            right_on={"--page-size": "32"}),
    Mistake("eight keys of a page", "tile_layout.cuh", "kEightLinesBytes * S::kKvPanels", "kEightLinesBytes",
            "wrong_result", "values mismatch", config=WIDE, shape={**PAGES, "--seq-kv": "320"}, right_on={"--page-size": "64"}),
    Mistake("tail of V in another group of keys", "tile_layout.cuh", "kChunks) * kEightKeysBytes", "kChunks) * kEightLinesBytes",
            "race", "with no synchronisation in between", config=WIDE, shape=PAGES, right_on={**PAGES, "--seq-kv": "320"}),
    Mistake("pages of the step before", "producer.cuh", "pages = next;", "",
            "wrong_result", "values mismatch", shape=PAGES, right_on={**PAGES, "--seq-kv": "64"}),
    Mistake("table read behind the last page", "../common/step_pages.cuh", "kBoxes && key < keys", "kBoxes",
            "out_of_bounds", "page_table", shape=PAGES),
    Mistake("no wait for an empty tile of pages", "producer.cuh",
            "      mbarrier_wait(Plan::empty(full), stage_.parity ^ 1);\n", "",
            "barrier_misuse", "the mbarrier's phase 0 waits for 0 of 1 arrivals", "producer.cuh",
            config="(FP16, 64, 8, 64, 2, 1): parts_512", shape=PAGES, right_on={**PAGES, **ONE_PART}, times=2),
    Mistake("no wait for an empty tile of small pages", "producer.cuh",
            "      mbarrier_wait(Plan::empty(full), stage_.parity ^ 1);\n", "",
            "barrier_misuse", "the mbarrier's phase 0 waits for 0 of 1 arrivals", "producer.cuh",
            config="(FP16, 64, 8, 64, 2, 1): parts_512", shape={"--page-size": "4"},
            right_on={"--page-size": "4", **ONE_PART}, times=2),
]


def latent(*arguments, shape=None, **more):
    return Mistake(*arguments, config=LATENT, shape=shape or LATENT_SHAPE, **more)


def merged(*arguments, shape=None, right_on=ONE_LATENT_PART, **more):
    return Mistake(*arguments, config=MERGED, shape=shape or LATENT_SHAPE, right_on=right_on, **more)


MISTAKES += [
    latent("rows of the state exchanged", "tall_latent_consumer.cuh",
           "{__float_as_uint(state.reference[0]), __float_as_uint(state.reference[1])",
           "{__float_as_uint(state.reference[1]), __float_as_uint(state.reference[0])",
           "wrong_result", "values mismatch"),
    latent("half of O not rescaled", "tall_latent_consumer.cuh",
           "rescale.factor[h] = ex2_approx_ftz((state.reference[h] - now.reference[h]) * scale_log2_);",
           "rescale.factor[h] = 1.0f;", "wrong_result", "values mismatch",
           right_on={**LATENT_SHAPE, "--seq-kv": "64"}),
    latent("no wait for what is handed over", "tall_latent_consumer.cuh",
           "mbarrier_wait(smem_ + Plan::full_handover(group_ ^ 1, own_warp()), parity);", "",
           "uninitialised", "reads shared memory .*, which no thread has written", "tall_latent_consumer.cuh"),
    latent("panels of the other consumer", "tall_latent_consumer.cuh", "panels = group_ * Plan::kFirstBytes", "panels = 0",
           "race", r"copies to shared memory .*, which thread \d+ .* reads, with no synchronisation"),
    latent("tail of half of V", "values_end.cuh", "S::kHeadDimV * S::kKvBytes / S::kLineBytes;", "S::kHeadDimV / S::kLineBytes;",
           "wrong_result", "input normal", shape=LATENT_LENGTHS,
           right_on={**LATENT_SHAPE, "--batch": "2", "--seq-kv-lens": "128,64"}),
    latent("bytes of a part of a tile", "producer.cuh", "v != 0 ? Plan::kSecondBytes", "v != 0 ? Plan::kFirstBytes",
           "divergent_barrier", "no warp can go on"),
    latent("heads of another tile", "producer.cuh", "S::kLatent ? row - query * work_.group", "S::kLatent ? 64 - row",
           "wrong_result", "values mismatch", shape=LATENT_CLUSTER),
    latent("keys freed for one block of the cluster", "cluster.cuh", "lane < kCluster", "lane < 1",
           "divergent_barrier", "no warp can go on", shape=LATENT_CLUSTER),
    latent("keys loaded for one block of the cluster", "cluster.cuh", "(1 << kCluster) - 1", "1",
           "divergent_barrier", "no warp can go on", shape=LATENT_CLUSTER),
    latent("parts counted where other blocks load", "producer.cuh", "kCluster > 1 ? Plan::kP : Plan::key(0)", "Plan::key(0)",
           "race", "block rank 1", shape={**LATENT_CLUSTER, **LATENT_SHAPE, **MANY_LENGTHS, "--heads": "128"}),
    latent("blocks of a cluster with other ends", "part_schedule.cuh", "(part.row_tile / kCluster + 1) * kCluster",
           "part.row_tile + 1", "divergent_barrier", "no warp can go on",
           shape={**LATENT_CLUSTER, "--seq": "2", "--seq-kv": "129", "--heads": "64", "--causal": ""}),
    merged("sums sent before Q is read", "merge.cuh",
           "    mbarrier_wait_for_cluster(smem_ + Plan::kSentFree, 0);\n", "",
           "in_flight", "writes sQ .* asynchronous copy"),
    merged("no wait for sums that are sent", "merge.cuh",
           "    mbarrier_wait_for_cluster(smem_ + Plan::kSentFull, 0);\n", "", "race", "block rank"),
    merged("states not sent", "merge.cuh", "    st_cluster_16(to + kStates, sums.state(0));\n", "",
           "wrong_result", "values mismatch"),
    merged("columns that the block keeps", "merge.cuh", "send<kSquares>", "send<0>", "wrong_result", "values mismatch"),
    merged("sums of another reference", "merge.cuh", "elements[j] * factors.sent", "elements[j] * factors.own",
           "wrong_result", "values mismatch"),
    merged("mbarriers of the other block not awaited", "flash_decode.cu",
           "      cluster_wait();\n", "",
           "race", "uses the mbarrier .* which another thread initialises"),
    merged("block without a part", "producer.cuh", "if (part.index < part.parts) {", "if (true) {",
           "race", "writes O .* of block rank", shape=LATENT_LENGTHS, right_on=LATENT_SHAPE),
]


def eight(*arguments, **more):
    """K and V of 8 bits, with a scale for each head unless the shape says otherwise."""
    shapes = {name: {**EIGHT_BITS, **more.pop(name)} for name in ("shape", "right_on") if name in more}
    return Mistake(*arguments, **{"shape": EIGHT_BITS, **shapes, **more})


MISTAKES_EIGHT_BITS = [
    eight("scale of K of another head", "scales.cuh", "work.k_scales + part.head * work.scale_head_stride", "work.k_scales",
          "wrong_result", "values mismatch", right_on=ONE_SCALE, of_several_heads=True),
    eight("scale of V of another head", "scales.cuh", "work.v_scales + part.head * work.scale_head_stride", "work.v_scales",
          "wrong_result", "values mismatch", right_on=ONE_SCALE, of_several_heads=True),
    eight("scale of V left out", "scales.cuh", "multiply(sums.o, value_ * kUnit)", "multiply(sums.o, kUnit)",
          "wrong_result", "values mismatch"),
    eight("scale of K after the cap", "short_consumer.cuh", "    scales.scale_scores(s);\n" + TAILS + CAPS, TAILS + CAPS + "    scales.scale_scores(s);\n",
          "wrong_result", "values mismatch", shape=SOFTCAP, right_on={}),
    eight("columns of V exchanged", "../common/ptx_fp8.cuh", "prmt(four, 0, 0x3120)", "prmt(four, 0, 0x2031)",
          "wrong_result", "values mismatch"),
    eight("columns of Q not in the order of K's", "ordered_queries.cuh", "make_uint4(low.x, low.z, high.x, high.z)", "low",
          "wrong_result", "values mismatch"),
    eight("keys of V in another order", "converted_products.cuh", "(four / S::kPanels * 2 + j)", "(four / S::kPanels * 2 + 1 - j)",
          "wrong_result", "values mismatch"),
    eight("no proxy fence behind the columns of Q", "ordered_queries.cuh", "fence_async_proxy();", "",
          "missing_proxy_fence", "multiplies sQ", "converted_products.cuh"),
    eight("no barrier behind the columns of Q", "ordered_queries.cuh",
          "fence_async_proxy();\n    named_barrier_wait(kOrderedBarrier, S::kConsumers);", "fence_async_proxy();",
          "race", r"multiplies sQ .* with no synchronisation", "converted_products.cuh"),
    eight("no barrier before the greatest element of Q", "ordered_queries.cuh",
          "named_barrier_wait(kOrderedBarrier, S::kConsumers);\n    const uint4", "const uint4",
          "uninitialised", "which no thread has written", "ordered_queries.cuh", config=EIGHT_BITS_BF16),
    eight("unit of Q left out", "scales.cuh", "key_ *= unit;", "", "wrong_result", "values mismatch",
          config=EIGHT_BITS_BF16),
    eight("references in the unit of the part", "short_consumer.cuh", "reference * factor", "reference",
          "wrong_result", "values mismatch", config=EIGHT_BITS_BF16),
    eight("fragments converted while products read them", "converted_products.cuh", "kFours == 1 ? 0 : 1", "1",
          "pending_registers", "may still read", "ptx_fp8.cuh", config="(FP16, 64, 8, 64, 2, 2): parts_512"),
    eight("no wait for a tile of 8 bits", "converted_products.cuh",
          """mbarrier_wait(smem_ + (kKeys ? Plan::full_k(stage.index) : Plan::full_v(stage.index)),
                  stage.parity);""", "",
          "in_flight", "while an asynchronous copy", "converted_products.cuh"),
    eight("no fence before products of fragments", "converted_products.cuh", "wgmma_fence();", "",
          "missing_wgmma_fence", "with no wgmma.fence since", "converted_products.cuh"),
    eight("tile freed before its last keys are read", "converted_products.cuh", "load<kKeys>(stage, 1);",
          "if (kKeys && lane_ == 0) { mbarrier_arrive(smem_ + Plan::empty(Plan::full_k(stage.index))); } load<kKeys>(stage, 1);",
          "race", "copies to .* reads, with no synchronisation", config="(FP16, 64, 8, 128, 1, 1): parts_512"),
    eight("scales of the step before", "scales.cuh", "    load(step + 1);", "    load(step);",
          "wrong_result", "values mismatch|NaN, infinite", shape=KEY_SCALES, right_on={**KEY_SCALES, "--seq-kv": "64"}),
    eight("scales of pages of the step before", "scales.cuh", "find_pages(step + 2);", "find_pages(step + 1);",
          "wrong_result", "values mismatch|NaN, infinite", shape={**KEY_SCALES, "--page-size": "2"}, right_on=KEY_SCALES,
          config="(FP16, 64, 8, 64, 2, 1): parts_512"),
    eight("scales behind the end", "scales.cuh", "key < keys_ ? __ldg(work_.v_scales + at)", "true ? __ldg(work_.v_scales + at)",
          "out_of_bounds", "after the end of v_scales", shape=KEY_SCALES),
    eight("unit that stays", "scales.cuh", "unit_ = raised;", "",
          "wrong_result", "NaN, infinite", shape=KEY_SCALES),
    eight("scales of another page", "scales.cuh", "kPageSize > 0 ? pages_[m][h] : batch_", "batch_",
          "wrong_result", "values mismatch", shape={**PAGES, "--kv-scales": "page"}, right_on=KEY_SCALES),
]


def sm80(*arguments, config=SM80, **more):
    return Mistake(*arguments, config=config, family="flash_decode_sm80", **more)


MISTAKES_SM80 = [
    sm80("no wait for a stage", "flash_decode_sm80.cu", "wait_group<S::kStages - 2>", "wait_group<S::kStages - 1>",
         "in_flight", r"reads sQ .* while an asynchronous copy", "warp_attention.cuh"),
    sm80("no barrier before a stage", "flash_decode_sm80.cu", "2>();\n      __syncthreads();", "2>();",
         "uninitialised", "which no thread has written", "part_schedule.cuh"),
    sm80("a stage loaded too early", "flash_decode_sm80.cu", "load_step(stage_before())", "load_step(stage_)",
         "uninitialised", r"reads sK stage 0 \[row \d+, col 0\]", "warp_attention.cuh"),
    sm80("one tile of Q", "config.cuh", "kQ + number % 2 * kBytesQ", "kQ",
         "in_flight", r"reads sQ .* while an asynchronous copy", "warp_attention.cuh",
         config=SM80_QUERY_STAYS, shape=MANY_PARTS),
    sm80("keys of another warp", "warp_attention.cuh", "own = key_warp() * S::kWarpKeys", "own = 0",
         "wrong_result", "values mismatch"),
    sm80("keys past the end", "loads.cuh", "is_there = key_ + row < keys_", "is_there = true",
         "wrong_result", "input normal", shape=LENGTHS, right_on={"--batch": "2", "--seq-kv-lens": "256,128"}),
    sm80("reference of one warp", "output.cuh", "reference_of_warps(row)) *", "warp.softmax().reference[h]) *",
         "wrong_result", "values mismatch", right_on={"--seq-kv": "16"}),
    sm80("sums over keys that are read", "output.cuh", "store_states(warp);\n    __syncthreads();", "store_states(warp);",
         "race", "with no synchronisation in between", "^output.cuh"),
    sm80("sums not waited for", "output.cuh", "sums, rows);\n    __syncthreads();", "sums, rows);",
         "race", "with no synchronisation in between", "^output.cuh"),
    sm80("lost part", "output.cuh", "part + i * every < of_rows.parts", "part + i * every < of_rows.parts - 1",
         "wrong_result", "values mismatch", right_on=ONE_PART),
    sm80("stale count of parts", "part_counts.cuh", "kNoLast : part.parts - 1", "kNoLast : kNoLast",
         "launch_dependent", "right in the first launch, wrong in launch 2", right_on=ONE_PART),
    sm80("stale next part", "part_queue.cuh", "*work_.next_part = 0;", "",
         "launch_dependent", "right in the first launch, wrong in launch 2", shape=MANY_PARTS, right_on={}),
    sm80("no fence before counting", "part_counts.cuh", "__threadfence();\n    return", "return",
         "race", "reads parts .* with no synchronisation", "^output.cuh", right_on=ONE_PART),
    sm80("no fence after counting", "part_counts.cuh", "__threadfence();\n    *verdict_", "*verdict_",
         "race", "reads parts .* with no synchronisation", "^output.cuh", right_on=ONE_PART),
    sm80("no wait for parts", "part_counts.cuh", "ld_global_acquire(counter) < part.parts", "false",
         "race", "reads parts .* with no synchronisation", "^output.cuh", config=SM80_SHARED, right_on=ONE_PART),
]


def run(options, command, mistake, shape):
    """Returns the report."""
    words = [word for pair in {**SHAPE, **shape}.items() for word in pair if word]
    change = (options.kernels, mistake.family, mistake.file, mistake.old, mistake.new, mistake.times)
    return report_on_broken(options.fatune, change, command, ["--config", mistake.config, *words])


def emulated(options, mistake, shape):
    """Returns the kind, the text and the source of what the emulator found first."""
    row = run(options, ["emulate"], mistake, shape)["configs"][0]
    if not row["findings"]:
        return row["outcome"], row["detail"] or "", ""
    first = row["findings"][0]
    return first["kind"], first["text"], (first["source"] or "").replace(f"{mistake.family}/", "")


def verdict_of_emulator(options, mistake):
    """Returns what is wrong with the emulator's answer, or "ok"; and the answer."""
    kind, said, source = emulated(options, mistake, mistake.shape)
    answer = f"{kind}: {said}"
    if kind != mistake.kind:
        return f"must be {mistake.kind}", answer
    if not re.search(mistake.says, said):
        return f"must say {mistake.says}", answer
    if not re.search(mistake.source, source):
        return f"must be at {mistake.source}, not at {source}", answer
    if mistake.right_on is not None:
        kind, said, _ = emulated(options, mistake, mistake.right_on)
        if kind != "right":
            return f"must be right on {mistake.right_on}", f"{kind}: {said}"
    return "ok", answer


def checked(options, mistake):
    """Returns what 'fatune check' says first, with the wrong rows, or an empty text."""
    shape = {name: value for name, value in mistake.shape.items() if name not in COUNTER_LAGS}
    where = ["--device", "none"] if options.emulate else ["--require-gpu"]
    for check in run(options, ["check", "--diff", *where], mistake, shape)["checks"]:
        if check["outcome"] != "right":
            rows = (check["rows"] or {}).get("summary") or "no row is beyond the limit"
            return f"{check['outcome']}: {check['detail']}; {rows}"
    return ""


def verdict_of_check(options, mistake):
    """Races and stale counters may have no effect in one run on a GPU."""
    said = checked(options, mistake)
    if mistake.kind == "wrong_result":
        return "ok" if re.search(r"[1-9]\d* of \d+ rows beyond the limit", said) else "MISSED", said
    if mistake.kind == "right":
        return "must be right" if said else "ok", said
    return "ok", said or "not seen"


def verdict(options, mistake):
    if not options.emulate:
        return verdict_of_check(options, mistake)
    found = verdict_of_emulator(options, mistake)
    is_number = found[0] == "ok" and mistake.kind == "wrong_result" and not mistake.of_several_heads
    return verdict_of_check(options, mistake) if is_number else found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fatune", required=True, help="the program")
    parser.add_argument("--kernels", required=True, help="the folder of the kernel families")
    parser.add_argument("--emulate", action="store_true", help="on the CPU: no GPU is needed, or used")
    options = parser.parse_args()
    if not options.emulate:
        skip_without_gpu(options.fatune)
    rows = [["mistake", "verdict", "said"]]
    nothing = ("none", "output.cuh", "class Output {", "class Output {", "right", "")
    for mistake in [Mistake(*nothing), *MISTAKES, *MISTAKES_EIGHT_BITS, sm80(*nothing), *MISTAKES_SM80]:
        rows.append([mistake.name, *verdict(options, mistake)])
    print_table(rows)
    sys.exit(1 if any(row[1] != "ok" for row in rows[1:]) else 0)


if __name__ == "__main__":
    main()
