"""Tests the module that `fatune workload recorder` prints, with a fake PyTorch: what it records of calls, and that fatune
reads it.

usage: workload_recorder_test.py FATUNE LIBCUDA
"""
import contextlib
import importlib
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import warnings

HERE = pathlib.Path(__file__).resolve().parent
FATUNE, LIBCUDA = sys.argv[1:3]
FOLDER = tempfile.TemporaryDirectory()
WORK = pathlib.Path(FOLDER.name)
SOURCE = subprocess.run([FATUNE, "workload", "recorder"], check=True, capture_output=True, text=True).stdout
(WORK / "fatune_record.py").write_text(SOURCE, encoding="utf-8")
os.environ.update(FATUNE_LIBCUDA=LIBCUDA, FATUNE_FAKE_KERNELS="never_run")
sys.path[:0] = [str(WORK), str(HERE / "fake_torch")]
torch = importlib.import_module("torch")
functional = torch.nn.functional
fatune_record = importlib.import_module("fatune_record")
PYTORCH = {"attention": functional.scaled_dot_product_attention}  # a name of a module would be replaced too


def tensor(*shape, dtype="bfloat16"):
    return torch.empty(shape, dtype=dtype)


def starts_of(*lengths):
    return torch.tensor([sum(lengths[:i]) for i in range(len(lengths) + 1)], torch.int32)


def attend(queries=100, keys=None, batch=2, heads=8, kv_heads=8, d=64, d_v=None, dtype="bfloat16", **options):
    keys = queries if keys is None else keys
    return functional.scaled_dot_product_attention(
        tensor(batch, heads, queries, d, dtype=dtype), tensor(batch, kv_heads, keys, d, dtype=dtype),
        tensor(batch, kv_heads, keys, d_v or d, dtype=dtype), **options)


def line(seq_len=100, calls=1, **members):
    return {"dtype": "BF16", "batch": 2, "seq_len": seq_len, "heads": 8, "d_head": 64, "causal": False, **members,
            "calls": calls}


def fatune(*arguments):
    return subprocess.run([FATUNE, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def show(*files):
    return [json.loads(one) for one in fatune("workload", "show", *files, "--format", "jsonl").splitlines()]


class Recorded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=WORK)
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "calls.jsonl"
        warnings.simplefilter("error")
        self.addCleanup(warnings.resetwarnings)
        torch.cuda.is_late = False

    def lines(self):
        return [json.loads(one) for one in self.file.read_text(encoding="utf-8").splitlines()]

    def record(self):
        return fatune_record.record(self.file)

    def check(self, *expected):
        """Compares the lines of the file, but for times, and has fatune read it."""
        self.assertEqual([{name: value for name, value in one.items() if name != "time_us"} for one in self.lines()],
                         list(expected))
        self.assertEqual(len(show(self.file)), len(expected))


class Problems(Recorded):
    """Which problem a call is."""

    def test_of_pytorchs_attention(self):
        with self.record():
            attend()
            attend(kv_heads=2, enable_gqa=True)
            attend(is_causal=True, dtype="float16")
            attend(1, 70, is_causal=False, scale=0.3)
            attend(40, 70, d_v=32)
            attend()
        self.check(line(calls=2), line(kv_heads=2), line(dtype="FP16", causal=True), line(1, seq_len_kv=70),
                   line(40, seq_len_kv=70, d_head_v=32))

    def test_what_no_workload_has(self):
        with self.assertWarnsRegex(UserWarning, "not in .*calls.jsonl: 2 of float32, 1 of nested tensors, 1 of shapes that "
                                   "are no problem's, 1 with attn_mask, 1 with dropout, 1 with gradients, 1 with "
                                   "is_causal and other numbers"), self.record():
            attend()
            attend(dtype="float32")
            attend(dtype="float32")
            attend(attn_mask=tensor(1))
            attend(dropout_p=0.1)
            attend(30, 40, is_causal=True)
            attend(kv_heads=3)
            q = tensor(2, 8, 5, 64)
            q.is_nested = True
            functional.scaled_dot_product_attention(q, q, q)
            q = tensor(2, 8, 5, 64)
            q.requires_grad = True
            torch.is_grad_enabled = lambda: True
            try:
                functional.scaled_dot_product_attention(q, q, q)
            finally:
                torch.is_grad_enabled = lambda: False
        self.check(line())

    def test_nothing_is_written_of_no_calls(self):
        with self.record():
            pass
        self.assertEqual(list(self.file.parent.iterdir()), [])

    def test_a_folder_that_is_missing(self):
        with self.assertRaisesRegex(FileNotFoundError, "no folder"), fatune_record.record(self.file / "x"):
            pass
        self.assertIs(functional.scaled_dot_product_attention, PYTORCH["attention"])

    def test_lengths_that_grow(self):
        with self.record():
            attend(2000, is_causal=True)
            for keys in range(2001, 2301):
                attend(1, keys)
        self.check(line(2000, causal=True), line(1, seq_len_kv=2048, calls=300))

    def test_few_lengths_are_exact(self):
        with self.record():
            for keys in range(2001, 2017):
                attend(1, keys)
                attend(keys, is_causal=True)
        self.assertEqual({one.get("seq_len_kv", one["seq_len"]) for one in self.lines()}, set(range(2001, 2017)))
        self.assertEqual(len(self.lines()), 32)

    def test_rounded_lengths(self):
        self.assertEqual([fatune_record.rounded(one) for one in (1, 63, 64, 65, 79, 80, 111, 112, 1279, 1280, 1791, 1792)],
                         [1, 63, 64, 64, 64, 96, 96, 128, 1024, 1536, 1536, 2048])

    def test_bounded_memory(self):
        with self.assertWarnsRegex(UserWarning, f"{3 * 4} of other problems than the first 4096"), self.record():
            for batch in range(1, 4097 + 3):
                attend(batch=batch)
            for _ in range(3 * 4 - 3):
                attend(batch=5000)
            attend(batch=7)
        self.assertEqual(len(self.lines()), 4096)
        self.assertEqual(sum(one["calls"] for one in self.lines()), 4097)


@contextlib.contextmanager
def flash_attn(**functions):
    """A package flash_attn with these functions, and a module that has imported their names."""
    def function_of(name):
        def function(*_, **__):
            torch.pass_time(0.1)
        function.__name__ = name
        return function

    package, user = types.ModuleType("flash_attn"), types.ModuleType("user")
    for name in ("flash_attn_func", "flash_attn_varlen_func", "flash_attn_with_kvcache"):
        setattr(package, name, function_of(name))
    user.__dict__.update(package.__dict__)
    sys.modules.update(flash_attn=package, user=user)
    try:
        yield user
    finally:
        del sys.modules["flash_attn"], sys.modules["user"]


class FlashAttention(Recorded):
    """Calls of flash-attn's functions, by names that another module has imported."""

    def test_dense(self):
        q, k = tensor(2, 40, 8, 64), tensor(2, 60, 2, 64)
        with flash_attn() as user:
            before = dict(user.__dict__)
            with self.record():
                user.flash_attn_func(q, q, q)
                user.flash_attn_func(q, k, k, causal=True, window_size=(15, 0), softcap=30.0)
                user.flash_attn_func(q, k, k, window_size=(15, 15), return_attn_probs=True)
            self.assertEqual(user.__dict__, before)
        self.check(line(40), line(40, causal=True, seq_len_kv=60, kv_heads=2, window=16, softcap=30.0),
                   line(40, seq_len_kv=60, kv_heads=2, window=16, lse=True))

    def test_caches(self):
        q, cache, pool = tensor(2, 1, 8, 64), tensor(2, 5000, 2, 64), tensor(90, 16, 2, 64)
        table, lengths = torch.tensor([0] * 8, torch.int32).view(2, 4), torch.tensor([17, 40], torch.int32)
        with flash_attn() as user, self.record():
            user.flash_attn_with_kvcache(q, cache, cache, causal=True)
            user.flash_attn_with_kvcache(q, cache, cache, cache_seqlens=70)
            user.flash_attn_with_kvcache(q, cache, cache, tensor(2, 1, 2, 64), tensor(2, 1, 2, 64),
                                         cache_seqlens=lengths)
            user.flash_attn_with_kvcache(q, pool, pool, cache_seqlens=lengths, block_table=table)
        self.check(line(1, seq_len_kv=5000, kv_heads=2), line(1, seq_len_kv=70, kv_heads=2),
                   line(1, seq_len_kv=5000, kv_heads=2, seq_lens_kv="41,18"),
                   line(1, seq_len_kv=64, kv_heads=2, seq_lens_kv="40,17", page_size=16))

    def test_packed(self):
        q, k, pool = tensor(60, 8, 64), tensor(90, 2, 64), tensor(90, 16, 2, 64)
        table = torch.tensor([0] * 8, torch.int32).view(2, 4)
        with flash_attn() as user, self.record():
            user.flash_attn_varlen_func(q, q, q, starts_of(20, 40), starts_of(20, 40), 40, 40, causal=True)
            user.flash_attn_varlen_func(q, k, k, starts_of(20, 40), starts_of(50, 40), 40, 50, causal=True)
            user.flash_attn_varlen_func(tensor(2, 8, 64), pool, pool, starts_of(1, 1), starts_of(30, 60), 1, 60,
                                        causal=True, block_table=table)
            user.flash_attn_varlen_func(q, pool, pool, starts_of(20, 40), None, 40, 60, causal=True, block_table=table,
                                        seqused_k=torch.tensor([30, 60], torch.int32))
        self.check(line(40, causal=True, seq_lens="40,20"),
                   line(40, causal=True, seq_len_kv=50, kv_heads=2, seq_lens="40,20", seq_lens_kv="40,50"),
                   line(1, seq_len_kv=64, kv_heads=2, seq_lens_kv="60,30", page_size=16),
                   line(40, causal=True, seq_len_kv=60, kv_heads=2, seq_lens="40,20", seq_lens_kv="60,30", page_size=16))

    def test_long_lists(self):
        lengths = (*range(1, 90), 1100)
        q = tensor(sum(lengths), 8, 64)
        with flash_attn() as user, self.record():
            user.flash_attn_varlen_func(q, q, q, starts_of(*lengths), starts_of(*lengths), 1100, 1100, causal=True)
        self.check(line(1024, causal=True, batch=90, seq_lens="uniform:1-1024:0"))

    def test_a_range_has_no_more_rows_than_a_packed_batch_may_have(self):
        self.assertEqual(fatune_record._text([1] * 99 + [1 << 20]), f"uniform:1-{(1 << 24) // 100}:0")

    def test_lengths_that_change(self):
        q, cache = tensor(1, 1, 8, 64), tensor(1, 5000, 8, 64)
        with flash_attn() as user, self.record():
            for keys in range(900, 900 + 2000):
                user.flash_attn_with_kvcache(q, cache, cache, cache_seqlens=torch.tensor([keys], torch.int32))
        self.assertEqual(sum(one["calls"] for one in self.lines()), 2000)
        calls = {one["seq_lens_kv"]: one["calls"] for one in self.lines()}
        self.assertEqual(set(calls), {"1024", "1536", "2048", "3072"})
        for lengths, expected in (("1024", 380), ("1536", 512), ("2048", 768), ("3072", 340)):
            self.assertLess(abs(calls[lengths] - expected), 251 + 128)

    def test_lengths_that_are_none_or_too_many(self):
        q, cache = tensor(2, 1, 8, 64), tensor(2, 50, 8, 64)
        many = starts_of(*[10] * 300)
        with flash_attn() as user, self.record():
            for lengths in ((-1, 5), (70, 5)):
                user.flash_attn_with_kvcache(q, cache, cache, cache_seqlens=torch.tensor(lengths, torch.int32))
            user.flash_attn_varlen_func(tensor(3000, 8, 64), tensor(3000, 8, 64), tensor(3000, 8, 64), many, many, 1 << 20,
                                        1 << 20)
            torch.cuda.is_late = True
            user.flash_attn_varlen_func(tensor(2000, 8, 64), tensor(2000, 8, 64), tensor(2000, 8, 64), many, many, 1 << 19,
                                        1 << 19)
        self.check(line(1, seq_len_kv=50, seq_lens_kv="50,5", calls=2), line(10, batch=300, seq_lens="uniform:10-10:0"),
                   line(55924, batch=300, seq_lens="uniform:55924-55924:0"))

    def test_arguments_that_cannot_be_compared(self):
        q = tensor(2, 40, 8, 64)
        with self.assertWarnsRegex(UserWarning, "1 with arguments"), flash_attn() as user, self.record():
            user.flash_attn_func(q, q, q, softcap=[1.0])
            user.flash_attn_func(q, q, q)
        self.check(line(40))

    def test_lengths_that_the_gpu_has_not_computed_yet(self):
        q, cache = tensor(1, 1, 8, 64), tensor(1, 5000, 8, 64)
        with flash_attn() as user, self.record():
            torch.cuda.is_late = True
            user.flash_attn_with_kvcache(q, cache, cache, cache_seqlens=torch.tensor([50], torch.int32))
        self.check(line(1, batch=1, seq_len_kv=5000))


class Times(Recorded):
    def count_events(self, calls):
        """Returns after which calls events were recorded."""
        sampled = []
        with self.record():
            for i in range(1, calls + 1):
                event = torch.cuda.Event
                torch.cuda.Event = lambda enable_timing, i=i: sampled.append(i) or event(enable_timing)
                try:
                    attend()
                finally:
                    torch.cuda.Event = event
        return sampled

    def test_are_sampled_less_and_less_often(self):
        self.assertEqual(self.count_events(100), [8, 8, 16, 16, 32, 32, 64, 64])
        self.assertEqual(self.lines(), [{**line(calls=100), "time_us": 200.0}])

    def test_a_slow_call_does_not_count(self):
        pass_time = torch.pass_time
        self.addCleanup(setattr, torch, "pass_time", pass_time)
        with self.record():
            for i in range(1, 33):
                torch.pass_time = (lambda ms: pass_time(100 * ms)) if i == 8 else pass_time
                attend()
        self.assertEqual(self.lines(), [{**line(calls=32), "time_us": 200.0}])

    def test_few_calls_have_none(self):
        self.assertEqual(self.count_events(7), [])
        self.assertEqual(self.lines(), [line(calls=7)])

    def test_the_program_does_not_wait_for_them(self):
        torch.cuda.is_late = True
        with self.record():
            for _ in range(20):
                attend()
        self.assertEqual(self.lines(), [line(calls=20)])
        with self.record():
            for i in range(70):
                torch.cuda.is_late = i < 60
                attend()
        self.assertEqual(self.lines(), [{**line(calls=70), "time_us": 200.0}])

    def test_none_in_the_capture_of_a_graph(self):
        is_capturing = torch.cuda.is_current_stream_capturing
        torch.cuda.is_current_stream_capturing = lambda: True
        try:
            self.assertEqual(self.count_events(20), [])
        finally:
            torch.cuda.is_current_stream_capturing = is_capturing
        self.assertEqual(self.lines(), [line(calls=20)])

    def test_an_error_of_cuda_is_not_the_programs(self):
        event = torch.cuda.Event
        def fail(enable_timing):
            raise RuntimeError("no CUDA")
        torch.cuda.Event = fail
        try:
            with self.record():
                for _ in range(20):
                    attend()
        finally:
            torch.cuda.Event = event
        self.assertEqual(self.lines(), [line(calls=20)])


class Scope(Recorded):
    def test_is_undone_after_an_exception(self):
        with self.assertRaises(ZeroDivisionError), self.record():
            self.assertIsNot(functional.scaled_dot_product_attention, PYTORCH["attention"])
            attend()
            raise ZeroDivisionError
        self.assertIs(functional.scaled_dot_product_attention, PYTORCH["attention"])
        attend()
        self.check(line())

    def test_errors_of_calls_are_theirs_and_no_calls(self):
        with self.record():
            attend()
            with self.assertRaisesRegex(RuntimeError, "do not fit"):
                functional.scaled_dot_product_attention(tensor(2, 8, 5, 64), tensor(2, 8, 5, 32), tensor(2, 8, 5, 32))
            with self.assertRaises(TypeError):
                functional.scaled_dot_product_attention(1)
        self.check(line())

    def test_what_was_put_there_within_stays(self):
        other = lambda *_: None
        try:
            with self.record():
                functional.scaled_dot_product_attention = other
            self.assertIs(functional.scaled_dot_product_attention, other)
        finally:
            functional.scaled_dot_product_attention = PYTORCH["attention"]

    def test_two_at_a_time(self):
        second = self.file.with_name("second.jsonl")
        with self.record():
            attend()
            with fatune_record.record(second):
                attend()
            attend()
        self.check(line(calls=3))
        self.assertEqual(show(second)[0]["calls"], 1)

    def test_calls_within_calls_count_once(self):
        inner = fatune_record.recorded(PYTORCH["attention"])

        def flash_attn_func(q, k, v):
            return inner(q, k, v)

        q = tensor(2, 100, 8, 64)
        with self.record():
            fatune_record.recorded(flash_attn_func)(q, q, q)
        self.check(line())

    def test_threads(self):
        def attend_often(batch):
            for i in range(500):
                attend(batch=batch)
                attend(1 + i % 50, batch=100)

        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-6)
        with self.record():
            threads = [threading.Thread(target=attend_often, args=(1 + i % 2,)) for i in range(8)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
        calls = {(one["batch"], one["seq_len"]): one["calls"] for one in self.lines()}
        self.assertEqual(calls, {(1, 100): 2000, (2, 100): 2000} | {(100, i): 80 for i in range(1, 51)})

    def test_a_process_that_is_killed_leaves_a_file(self):
        seconds = fatune_record.SECONDS_OF_A_FILE
        fatune_record.SECONDS_OF_A_FILE = 0
        try:
            with self.record():
                for _ in range(1024):
                    attend()
                self.check(line(calls=1024))
        finally:
            fatune_record.SECONDS_OF_A_FILE = seconds


PROGRAM = """import sys
import torch
from torch.nn.functional import scaled_dot_product_attention
q = torch.empty((2, 8, 100, 64), dtype="bfloat16")
for _ in range(int(sys.argv[1])):
    scaled_dot_product_attention(q, q, q)
    torch.nn.functional.scaled_dot_product_attention(q, q, q)
"""


def attend_three_times():
    for _ in range(3):
        attend()


class Processes(Recorded):
    def run_python(self, *arguments, **environment):
        path = f"{WORK}:{HERE / 'fake_torch'}"
        subprocess.run([sys.executable, "-B", "-W", "error", *map(str, arguments)], check=True, cwd=self.file.parent,
                       env={**os.environ, "PYTHONPATH": path, **environment})

    def program(self, text=PROGRAM):
        program = self.file.with_name("program.py")
        program.write_text(text, encoding="utf-8")
        return program

    def test_a_program_that_knows_nothing_of_it(self):
        self.run_python(WORK / "fatune_record.py", "--out", self.file, self.program(), "5")
        self.check(line(calls=10))
        self.run_python(WORK / "fatune_record.py", "--out", self.file, "-m", "program", "6")
        self.check(line(calls=12))

    def test_its_exit_code_is_the_programs(self):
        program = self.program(PROGRAM + "sys.exit(7)\n")
        with self.assertRaises(subprocess.CalledProcessError) as raised:
            self.run_python(WORK / "fatune_record.py", "--out", "calls.jsonl", program, "5")
        self.assertEqual(raised.exception.returncode, 7)
        self.check(line(calls=10))

    def test_the_environment_records_each_process(self):
        program = self.program("import fatune_record\n" + PROGRAM)
        for calls in ("1", "2", "3"):
            self.run_python(program, calls, FATUNE_ATTENTION_RECORD="calls.jsonl")
        files = list(self.file.parent.glob("calls.jsonl.*"))
        self.assertEqual(len(files), 3)
        self.assertEqual([one["calls"] for one in show(*files)], [2 * (1 + 2 + 3)])

    def check_children(self, method):
        """Processes that multiprocessing starts do not run what atexit has."""
        multi = multiprocessing.get_context(method)
        with self.record():
            attend()
            children = [multi.Process(target=attend_three_times) for _ in range(2)]
            for child in children:
                child.start()
            for child in children:
                child.join()
        self.check(line())
        files = list(self.file.parent.glob("calls.jsonl.*"))
        self.assertEqual(len(files), 2)
        self.assertEqual(show(*files)[0]["calls"], 6)
        self.assertEqual(show(self.file, *files)[0]["calls"], 7)

    def test_forked_processes(self):
        self.check_children("fork")


class ReadByFatune(Recorded):
    def test_a_sweep_of_all_kinds_of_problems(self):
        q, pool = tensor(60, 8, 64), tensor(90, 16, 8, 64)
        table, lengths = torch.tensor([0] * 8, torch.int32).view(2, 4), torch.tensor([17, 40], torch.int32)
        with flash_attn() as user, self.record():
            for _ in range(20):
                attend(128, is_causal=True)
                attend(1, 300)
                user.flash_attn_varlen_func(q, q, q, starts_of(20, 40), starts_of(20, 40), 40, 40, causal=True)
                user.flash_attn_with_kvcache(tensor(2, 1, 8, 64), pool, pool, cache_seqlens=lengths, block_table=table)
        self.assertTrue(all(one["calls"] == 20 and one["time_us"] > 0 for one in self.lines()))
        results = self.file.with_name("results")
        fatune("sweep", "--workload", self.file, "--device", "none", "--no-emulate", "--max-configs", "2", "--no-db",
               "--out", results)
        report = json.loads((results / "results.json").read_text(encoding="utf-8"))
        self.assertEqual([one["calls"] for one in report["problems"]], [20.0] * 4)
        self.assertEqual({one["before_us"] for one in report["problems"]}, {100.0, 200.0})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
