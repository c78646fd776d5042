#!/usr/bin/env python3
"""Plants mistakes in what flash_sm90 does for packed batches, lengths of keys, pages and elements of 8 bits, and
flash_sm80 for packed batches, one at a time. With --emulate, 'fatune emulate' must find each without a GPU, and must find nothing on a problem where the mistake has no effect. On a GPU, 'fatune check' must
find those that make numbers wrong in every run.

Each mistake is a substitution. Where the kernel has changed, the script says which text it no longer finds.
Needs only Python: packed_mistakes.py --fatune build/ci/bin/fatune --kernels kernels
"""

import argparse
import dataclasses
import re
import sys

from sweep_tools import print_table, report_on_broken, skip_without_gpu

HOPPER, SM80 = "flash_sm90", "flash_sm80"
CONFIG = "(ws, FP16, 64, 128, 32, 2, 8, 2): overlap+slots_2+cluster_1+persistent+dynamic"
OF_SM80 = "(FP16, 64, 64, 32, 4): async+eager+swizzled+load_0_2_2_tiles+opt_softmax"
ONE_SLOT = "(ws, FP16, 64, 192, 32, 2, 12, 3): slots_1+cluster_1+persistent"
UNITS = "../common/packed_units.cuh"
# A sequence without queries, whose keys are NaN, follows one that ends within a step.
SHAPE = {"--seq-lens": "70,0,130,1", "--seq-kv-lens": "80,20,140,1", "--heads": "2", "--kv-heads": "1"}
# All sequences end with a step and with a consumer's rows.
WHOLE = {"--seq-lens": "64,128", "--seq-kv-lens": "64,160", "--heads": "2", "--kv-heads": "1"}
# Some sequences have as many keys as others, to within what orders them.
UNLIKE = {"--seq-lens": "70,10,64,5", "--seq-kv-lens": "80,700,700,80", "--heads": "2", "--kv-heads": "1"}
MANY = {"--seq-lens": "uniform:0-3", "--batch": "60", "--seq-kv-lens": "uniform:1-40", "--heads": "4",
        "--kv-heads": "4", "--schedules": "1"}
FEW = {**MANY, "--batch": "9"}
# A block has several tiles, and all warps of a consumer have rows to copy.
LONGER = {**MANY, "--batch": "40", "--seq-lens": "uniform:20-40"}
# Pages of one box, of which a step has two; and pages of several boxes, in a batch that is not packed.
PAGES = {**SHAPE, "--page-size": "16"}
LARGE = {"--seq": "70", "--seq-kv": "200", "--batch": "2", "--heads": "2", "--kv-heads": "1", "--page-size": "128"}
# Lengths of keys: one ends within a step, one is of no key, one fills the room.
LENGTHS = {"--seq": "70", "--seq-kv-lens": "140,20,0,160", "--heads": "2", "--kv-heads": "1"}
FULL = {**LENGTHS, "--seq-kv-lens": "160,160"}
# Q, K and V of 8 bits, with scales of heads, and with one for all.
EIGHT_BITS = {"--dtype": "e4m3", "--kv-scales": "head", "--seq": "70", "--seq-kv": "150", "--heads": "4", "--kv-heads": "2",
              "--batch": "1"}
# Rows whose scores of a step are all negative, and far above those of the step before.
LOW_SCORES = {"--seq": "300", "--seq-kv": "300", "--window": "3", "--causal": None}
ONE_SCALE = {**EIGHT_BITS, "--kv-scales": "tensor"}
# Scales of blocks: of two of queries and four of keys, and of one alone.
BLOCKS = {"--kv-scales": "block", "--seq": "200", "--seq-kv": "400"}
ONE_BLOCK = {**EIGHT_BITS, "--kv-scales": "block", "--seq": "60", "--seq-kv": "120", "--heads": "1", "--kv-heads": "1"}
PACKED_BLOCKS = {"--dtype": "e4m3", "--kv-scales": "block", "--seq-lens": "140,60", "--seq-kv-lens": "300,140", "--heads": "2",
                 "--kv-heads": "1"}
OF_8_BITS = "(ws, E4M3, 64, 128, 32, 2, 8, 2): overlap+slots_2+cluster_1+persistent+dynamic"
LAZY = "(ws, E4M3, 64, 128, 32, 2, 8, 2): overlap+lazy+slots_2+cluster_1+persistent+dynamic"
WITHOUT_MAXIMA = "(ws, E4M3, 64, 128, 32, 2, 8, 2): overlap+lazy+slots_1+cluster_1+persistent+skip_max"
PARTS = "(ws, E4M3, 64, 128, 64, 2, 8, 2): overlap+lazy+slots_1+cluster_1+persistent+split"
# More tiles than blocks.
ONE_EACH = {"--seq": "1", "--seq-kv": "40", "--batch": "40", "--heads": "4", "--page-size": "16", "--schedules": "1"}


@dataclasses.dataclass
class Mistake:
    """What the emulator must say: the outcome wrong_result, or a kind of finding; and a pattern in its text. file is
    relative to the family's folder, or to that of what families share."""
    name: str
    file: str
    old: str
    new: str
    kind: str
    says: str = ""
    shape: dict = dataclasses.field(default_factory=lambda: SHAPE)
    config: str = CONFIG
    right_on: dict | None = None  # a problem on which the mistake has no effect
    family: str = HOPPER


def of_sm80(*values, **more):
    return Mistake(*values, config=OF_SM80, family=SM80, **more)


def eight(name, file, old, new, kind="wrong_result", says="", shape=None, config=OF_8_BITS, **more):
    return Mistake(name, file, old, new, kind, says, shape={**EIGHT_BITS, **(shape or {})}, config=config, **more)


MISTAKES = [
    Mistake("tile of the sequence before", UNITS, "&& within < end", "&& within <= end", "race", "writes O"),
    Mistake("rows of another sequence", "packed_tiles.cuh", "{of.first_query,", "{0 * of.first_query,", "race", "writes O",
            right_on={**SHAPE, "--seq-lens": "70,0,0,0"}),
    Mistake("keys of another sequence", "packed_tiles.cuh", ": of.first_key,", ": 0 * of.first_key,", "wrong_result", right_on={**SHAPE, "--seq-lens": "70,0,0,0"}),
    Mistake("a tile is lost", UNITS, "(queries + kRows - 1) / kRows", "max(1, queries / kRows)", "wrong_result", right_on=WHOLE),
    Mistake("the next 32 sequences are not looked at", UNITS, "first_ >= args_.batch", "true",
            "wrong_result", shape=MANY, right_on=FEW),
    Mistake("units of earlier sequences forgotten", UNITS, "before_ += all_;", "", "race", "next_tile",
            shape=MANY),
    Mistake("units of longer sequences forgotten", UNITS, "before += is_before ? its_units : 0;", "", "wrong_result",
            shape=UNLIKE, right_on=SHAPE),
    Mistake("units of earlier sequences forgotten where none is long", UNITS, "lane() >= distance ? earlier : 0", "0",
            "wrong_result", right_on=UNLIKE),
    Mistake("sequences of as many keys before each other", UNITS, "other < lane())", "true)", "wrong_result", shape=UNLIKE),
    Mistake("keys of the next sequence seen", "consumer.cuh", "return kPacked || kKeyLengths ? sequence_.seq_len_kv : work_.seq_len_kv;",
            "return sequence_.seq_len_kv + 1;", "wrong_result"),
    Mistake("mask of the longest sequence", "consumer.cuh", "return kPacked ? sequence_.seq_len : work_.seq_len;",
            "return work_.seq_len;", "race", "writes O"),
    Mistake("values of the next sequence not cleared", "values_end.cuh", "if (rows < S::kBlockN) {", "if (false) {",
            "wrong_result", "NaN", right_on=WHOLE),
    Mistake("one value too few cleared", "values_end.cuh", "max(rows, 0), lane", "max(rows, 0) + 1, lane",
            "wrong_result", "NaN", right_on=WHOLE),
    Mistake("no proxy fence after clearing", "values_end.cuh", "  fence_async_proxy();\n", "",
            "missing_proxy_fence", right_on=WHOLE),
    Mistake("values used before they are cleared", "consumer.cuh",
            "mbarrier_wait(smem_ + Plan::ready_v(v_.index()), v_.parity());\n    const",
            "mbarrier_wait(smem_ + Plan::full_v(v_.index()), v_.parity());\n    const", "race"),
    Mistake("rows of the next sequence overwritten", "consumer.cuh", "rows < S::kGroupQueries", "false", "race", "writes O",
            right_on=WHOLE),
    Mistake("slot freed while it is copied", "consumer.cuh",
            "32 * warp_ + lane_);\n        named_barrier_wait(kFirstStoreBarrier + group_, S::kGroupThreads);",
            "32 * warp_ + lane_);", "race", config=ONE_SLOT, shape=LONGER),
    Mistake("log-sum-exps of the first sequence", "consumer.cuh", "+ first_query(), work_", ", work_",
            "race", "writes lse", shape={**SHAPE, "--lse": None}),
    Mistake("stale counter", "packed_tiles.cuh", "*work.next_tile = 0;", "", "launch_dependent",
            "right in the first launch, wrong in launch 2", shape=MANY),
    Mistake("pages of the first sequence", "tile_schedule.cuh", "kPacked ? sequence_of(work, tile).first_key : tile.batch",
            "0", "wrong_result", shape=LARGE, right_on={**LARGE, "--batch": "1"}),
    Mistake("pages of a sequence of the first 32", "packed_tiles.cuh", "of.number :",
            "of.number % 32 :", "wrong_result", shape={**MANY, "--page-size": "4"},
            right_on={**FEW, "--page-size": "4"}),
    Mistake("pages as if rows were numbered", "packed_tiles.cuh", "kPaged ? of.number :", "", "out_of_bounds",
            shape=PAGES),
    Mistake("all boxes are the first one", "producer.cuh", "box * (Pages::kBoxKeys * 128)", "0 * box", "in_flight",
            shape=PAGES),
    Mistake("the first rows of each page", "producer.cuh", "panel_at<kColumns>(row, panel, head, page)",
            "panel_at<kColumns>(0 * row, panel, head, page)", "wrong_result", shape=LARGE, right_on=PAGES),
    Mistake("pages behind the end", "producer.cuh", "sequence_of(work_, tile).seq_len_kv, step", "1 << 30, step",
            "out_of_bounds", "page_table", shape={**PAGES, "--seq-kv-lens": "80,20,1,140"}),
    Mistake("values of the last page not cleared", "values_end.cuh", "if (rows < S::kBlockN) {", "if (false) {",
            "wrong_result", "NaN", shape=LARGE, right_on={**LARGE, "--seq-kv": "224"}),
    Mistake("lanes load before the buffer is free", "producer.cuh", "    if constexpr (kPaged) {\n      __syncwarp();\n    }\n",
            "", "race", shape=PAGES),
    Mistake("tiles of the first lane alone", "tile_schedule.cuh", "count = __shfl_sync(0xffffffffu, count, 0);", "",
            "in_flight", shape=ONE_EACH, right_on={**ONE_EACH, "--batch": "9"}),
    Mistake("length ignored", "tile_schedule.cuh", "work.seq_lens_kv[tile.batch]", "work.seq_len_kv", "wrong_result", "NaN",
            shape=LENGTHS, right_on=FULL),
    Mistake("length of the first sequence", "tile_schedule.cuh", "work.seq_lens_kv[tile.batch]", "work.seq_lens_kv[0]",
            "wrong_result", shape=LENGTHS, right_on=FULL),
    Mistake("steps of the first unit", "tile_schedule.cuh", "set_steps<S>(tile, unit_row, tile.sequence)",
            "set_steps<S>(tile, 0, tile.sequence)", "wrong_result",
            shape={**LENGTHS, "--seq": "200", "--seq-kv-lens": "300,20,0,350"}, right_on=LENGTHS),
    Mistake("keys of the room seen", "consumer.cuh", "return kPacked || kKeyLengths ? sequence_.seq_len_kv : work_.seq_len_kv;",
            "return work_.seq_len_kv;", "wrong_result", "NaN", shape=LENGTHS, right_on=FULL),
    Mistake("values of the room not cleared", "values_end.cuh", "if (rows < S::kBlockN) {", "if (false) {",
            "wrong_result", "NaN", shape=LENGTHS, right_on=FULL),
    Mistake("values of the room used before they are cleared", "consumer.cuh",
            "mbarrier_wait(smem_ + Plan::ready_v(v_.index()), v_.parity());\n    const",
            "mbarrier_wait(smem_ + Plan::full_v(v_.index()), v_.parity());\n    const", "race", shape=LENGTHS),
    Mistake("every lane loads", "flash_forward.cu", "} else if (thread == 0) {\n      produce_tiles<S>(work, smem, 0",
            "} else {\n      produce_tiles<S>(work, smem, 0", "race", shape=LENGTHS),
    eight("scale of Q of another head", "eight_bit_scales.cuh", "work.q_scales + tile.head * work.scale_stride", "work.q_scales",
          right_on=ONE_SCALE),
    eight("scale of K of another head", "eight_bit_scales.cuh", "work.k_scales + kv_head", "work.k_scales", right_on=ONE_SCALE),
    eight("scale of V of another head", "eight_bit_scales.cuh", "work.v_scales + kv_head", "work.v_scales", right_on=ONE_SCALE),
    eight("scale of K for V", "eight_bit_scales.cuh", "work.v_scales + kv_head", "work.k_scales + kv_head"),
    eight("scale of V left out", "eight_bit_scales.cuh", "output *= scales.value;", ""),
    eight("odd columns of V are even ones", "transposed_values.cuh", "0x7531", "0x6420"),
    eight("keys of V in another order than P's", "transposed_values.cuh", "0x6420", "0x6240"),
    eight("keys of P in another order than V's", "eight_bit_consumer.cuh", "s[2 * h + 4], s[2 * h + 5]", "s[2 * h + 5], s[2 * h + 4]"),
    eight("columns of O exchanged", "eight_bit_consumer.cuh", "sums[0], sums[4]", "sums[4], sums[0]"),
    eight("P beyond its range", "eight_bit_softmax.cuh", "many ? 6.0f : 8.0f", "many ? 6.0f : 12.0f"),
    eight("P grows beyond its range", "eight_bit_softmax.cuh", "kGreatestLog2 = 8.75f", "kGreatestLog2 = 16.0f", config=LAZY),
    eight("maxima below 0 overlooked", "eight_bit_softmax.cuh", "(reference < -kGreatestLog2)", "(reference < -1e20f)",
          config=LAZY, shape=LOW_SCORES),
    eight("P beyond its range where no maxima are taken", "eight_bit_consumer.cuh", "(greatest & 0x80808080u) != 0", "false",
          config=WITHOUT_MAXIMA),
    eight("sums of P left behind by the first step", "eight_bit_consumer.cuh", "of_row[h] += o[S::kOutputs + 2 * h];",
          "of_row[h] = o[S::kOutputs + 2 * h];"),
    eight("log-sum-exps of rounded probabilities", "consumer.cuh", "        sums_.change_places(unrounded);\n", "", says="lse",
          shape={"--lse": None}),
    eight("scale of K of the next block", "eight_bit_scales.cuh", "static_cast<unsigned>(step) / kSteps * work.kv_heads;",
          "min(step / static_cast<int>(kSteps) + 1, work.key_blocks - 1) * work.kv_heads;", shape=BLOCKS, right_on=ONE_BLOCK),
    eight("scale of K of another head's block", "eight_bit_scales.cuh", "work.kv_heads + tile.head / work.group;", "work.kv_heads;",
          shape=BLOCKS, right_on=ONE_BLOCK),
    eight("scale of K of the step before", "consumer.cuh", "    wgmma_wait<1>();\n    after_wait(s_);\n    take_key_scale();\n    const",
          "    wgmma_wait<1>();\n    after_wait(s_);\n    const", shape=BLOCKS, right_on=ONE_BLOCK),
    eight("scale of Q of the first block", "eight_bit_scales.cuh", "first_row / kScaleBlock,", "0 * first_row,", shape=BLOCKS,
          right_on=ONE_BLOCK),
    eight("O not brought to the next scale of V", "eight_bit_scales.cuh", "        output *= factor;\n", "", shape=BLOCKS,
          right_on=ONE_BLOCK),
    eight("O brought to the next scale of V the other way", "eight_bit_scales.cuh", "value / asked_value_", "asked_value_ / value",
          shape=BLOCKS, right_on=ONE_BLOCK),
    eight("O multiplied by the first step's scale of V", "eight_bit_scales.cuh", "      value = asked_value_;\n    }", "    }",
          shape=BLOCKS, right_on=ONE_BLOCK),
    eight("parts of tiles united in units of their own scales of V", "consumer.cuh", "      scale_values<S>(outputs(), scales_);",
          "      if (tile.split < 0) {\n        scale_values<S>(outputs(), scales_);\n      }", shape=BLOCKS, config=PARTS),
    eight("sums of rows brought to the next scale of V", "consumer.cuh",
          "    sums_.template take_column<S>(o_);\n    take_value_scale(false);",
          "    const float before = scales_.value;\n    take_value_scale(false);\n    for (int h = 0; h < 2; ++h) {\n"
          "      o_[S::kOutputs + 2 * h] *= before / scales_.value;\n    }\n    sums_.template take_column<S>(o_);",
          shape=BLOCKS, right_on=ONE_BLOCK),
    eight("O brought to the next scale of V before its product", "consumer.cuh", "    await_output(step + 1);\n    packed.finish",
          "    take_value_scale(false);\n    await_output(step + 1);\n    packed.finish", "pending_registers", shape=BLOCKS),
    Mistake("blocks of the first sequence", "packed_tiles.cuh", "kPassesNumber ? tile.sequence.number :", "kPassesNumber ? 0 :",
            "wrong_result", shape=PACKED_BLOCKS, config=OF_8_BITS, right_on=ONE_BLOCK),
    eight("keys behind a sequence's end not cleared", "transposed_values.cuh", "blocks[j].clear(left, lane);", "", says="NaN",
          shape={"--seq-kv-lens": "140,20,0,150", "--batch": "4"}),
    eight("transposed by one warp of three", "flash_forward.cu", "? S::kHandsOnWarps : 1", "? 1 : 1", "race"),
    eight("transposed tile overwritten", "transposed_values.cuh", "mbarrier_wait(Plan::empty(full), parity ^ 1);", "", "race"),
    eight("no proxy fence after transposing", "transposed_values.cuh", "    fence_async_proxy();\n", "", "missing_proxy_fence"),
    of_sm80("queries of the first sequence", "flash_forward.cu", "(sequence.first_query) * kRowStride",
            "(0) * kRowStride", "race", "writes O", right_on={**SHAPE, "--seq-lens": "70,0,0,0"}),
    of_sm80("keys of the first sequence", "flash_forward.cu", "(sequence.first_key) * kKvRowStride",
            "(0) * kKvRowStride", "wrong_result", right_on={**SHAPE, "--seq-lens": "70,0,0,0"}),
    of_sm80("keys of the next sequence read", "flash_forward.cu", "kPacked ? sequence.seq_len_kv : kv_length(args)",
            "sequence.seq_len_kv + 1", "out_of_bounds", "the end of K"),
    of_sm80("rows of the next sequence written", "flash_forward.cu", "kPacked ? sequence.seq_len : args.seq_len",
            "args.seq_len", "race", "writes O"),
    of_sm80("log-sum-exps of the first sequence of sm80", "flash_forward.cu", "rows_of_head + sequence.first_query;",
            "rows_of_head;", "race", "writes lse", shape={**SHAPE, "--lse": None}),
    of_sm80("a unit for each sequence", "flash_forward.cu", "kCausal ? after :", "kCausal ? 0 :", "race", "writes O",
            right_on={**SHAPE, "--seq-lens": "60,0,64,1"}),
    of_sm80("the next 32 sequences of sm80 are not looked at", UNITS, "first_ >= args_.batch", "true", "wrong_result",
            shape=MANY, right_on=FEW),
]


def run(options, command, mistake, shape):
    """Returns the report."""
    words = [word for pair in shape.items() for word in pair if word is not None]
    change = (options.kernels, mistake.family, mistake.file, mistake.old, mistake.new, 1)
    return report_on_broken(options.fatune, change, command, ["--config", mistake.config, "--causal", *words])


def emulated(options, mistake, shape):
    """Returns the kinds of what the emulator found, and the texts."""
    row = run(options, ["emulate"], mistake, shape)["configs"][0]
    kinds = {row["outcome"], *(finding["kind"] for finding in row["findings"])}
    return kinds, "; ".join([row["detail"] or "", *(finding["text"] for finding in row["findings"])])


def verdict_of_emulator(options, mistake):
    """Returns what is wrong with the emulator's answer, or "ok"; and the answer."""
    kinds, said = emulated(options, mistake, mistake.shape)
    if mistake.kind not in kinds:
        return f"must be {mistake.kind}", said
    if not re.search(mistake.says, said):
        return f"must say {mistake.says}", said
    if mistake.right_on is not None:
        kinds, otherwise = emulated(options, mistake, mistake.right_on)
        if kinds != {"right"}:
            return f"must be right on {mistake.right_on}", otherwise
    return "ok", said


def verdict_of_check(options, mistake):
    """Races and stale counters may have no effect in one run on a GPU."""
    shape = {name: value for name, value in mistake.shape.items() if name != "--schedules"}
    checks = run(options, ["check", "--require-gpu"], mistake, shape)["checks"]
    said = "; ".join(f"{check['outcome']}: {check['detail']}" for check in checks if check["outcome"] != "right")
    if mistake.kind == "wrong_result":
        return "ok" if said else "MISSED", said
    if mistake.kind == "right":
        return "must be right" if said else "ok", said
    return "ok", said or "not seen"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fatune", required=True, help="the program")
    parser.add_argument("--kernels", required=True, help="the folder of the kernel families")
    parser.add_argument("--emulate", action="store_true", help="on the CPU: no GPU is needed, or used")
    options = parser.parse_args()
    if not options.emulate:
        skip_without_gpu(options.fatune)
    verdict = verdict_of_emulator if options.emulate else verdict_of_check
    rows = [["mistake", "verdict", "said"]]
    none = Mistake("none", "packed_tiles.cuh", "class PackedTiles {", "class PackedTiles {", "right")
    for mistake in [none, *MISTAKES]:
        found, said = verdict(options, mistake)
        rows.append([mistake.name, found, said[:100]])
    print_table(rows)
    sys.exit(1 if any(row[1] != "ok" for row in rows[1:]) else 0)


if __name__ == "__main__":
    main()
