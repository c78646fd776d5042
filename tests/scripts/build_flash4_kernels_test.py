"""Tests scripts/build_flash4_kernels with fake packages and a fake linker.

usage: build_flash4_kernels_test.py SCRIPT
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv[1] if len(sys.argv) > 1 else ""
RUNTIME = """
import pathlib
def find_runtime_libraries(*, enable_tvm_ffi):
    assert enable_tvm_ffi
    return [str(pathlib.Path(__file__).with_name(name)) for name in ("libdsl.so", "libtvm_ffi.so")]
"""
INTERFACE = """
import os
import types
class Compiled:
    def __init__(self, *what):
        self.what = what
    def export_to_c(self, path, function):
        with open(path, "w", encoding="utf-8") as file:
            print(*self.what, function, "Cuda compilation tools, release 13.4, V13.4.59", file=file)
def flash_attn_func(q, k, v, causal, *more, window_size=(None, None), softcap=0.0, learnable_sink=None):
    assert os.environ["CUTE_DSL_ARCH"] == "sm_90a"
    assert q.shape[-1] <= 256, "not supported on SM90"
    assert learnable_sink is None or learnable_sink.shape == (q.shape[-2],)
    other = [f"columns {v.shape[-1]}"] * (v.shape[-1] != q.shape[-1]) + ["window"] * (window_size != (None, None))
    other += [f"softcap {softcap}"] * (softcap > 0) + ["sinks"] * (learnable_sink is not None)
    _flash_attn_fwd.compile_cache.cache[q.shape, causal] = Compiled(q.dtype, q.shape[-2] // k.shape[-2], causal, *more,
                                                                    *other)
def flash_attn_varlen_func(q, k, v, causal, seqused_k=None, cu_seqlens_q=None, cu_seqlens_k=None, max_seqlen_q=None,
                           max_seqlen_k=None, page_table=None, **settings):
    if cu_seqlens_q is not None:
        assert len(q.shape) == len(k.shape) == 3 and cu_seqlens_q.shape == cu_seqlens_k.shape == (3,)
        return flash_attn_func(q, k, v, causal, "packed", **settings)
    assert seqused_k.shape == (q.shape[0],) and seqused_k.dtype == "int"
    if page_table is not None:
        assert page_table.shape[0] == q.shape[0] and page_table.shape[1] * q.shape[0] == k.shape[0]
        return flash_attn_func(q, k, v, causal, "pages", **settings)
    return flash_attn_func(q, k, v, causal, "lengths", **settings)
_flash_attn_fwd = types.SimpleNamespace(compile_cache=types.SimpleNamespace(cache={}))
"""
TORCH = """
import types
float16, bfloat16, float32, int32 = "half", "brain", "float", "int"
def empty(*shape, dtype, device):
    return types.SimpleNamespace(shape=shape, dtype=dtype)
"""
LINKER = r'''#!/bin/sh
[ "$1 $2" = "-shared -o" ] || exit 4
case "$*" in *" -x c - "*) cat >"$3" ;; *) cat "$4" >"$3" ;; esac && echo "$@" >>"$3"
'''
PACKAGES = {
    "torch/__init__.py": TORCH, "torch/_subclasses/__init__.py": "", "tvm_ffi.py": "",
    "torch/_subclasses/fake_tensor.py": "from contextlib import nullcontext as FakeTensorMode\n",
    "cutlass/__init__.py": "", "cutlass/cute/__init__.py": "", "cutlass/cute/runtime.py": RUNTIME,
    "cutlass/cute/libdsl.so": "", "flash_attn/cute/__init__.py": "", "flash_attn/cute/interface.py": INTERFACE,
    "flash_attn_4-4.0.0b36.dist-info/METADATA": "Name: flash-attn-4\nVersion: 4.0.0b36\n",
    "nvidia_cutlass_dsl-9.dist-info/METADATA": "Name: nvidia-cutlass-dsl\nVersion: 9\n"}


class BuildFlash4Kernels(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.packages, self.folder = pathlib.Path(scratch.name) / "packages", pathlib.Path(scratch.name) / "kernels"
        for name, text in {**PACKAGES, "cc": LINKER}.items():
            path = self.packages / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (self.packages / "cc").chmod(0o755)

    def build(self, *options, code=0):
        command = [sys.executable, "-B", SCRIPT, str(self.folder), *options]
        environment = {**os.environ, "PYTHONPATH": str(self.packages), "CC": str(self.packages / "cc")}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def test_each_kernel_is_a_library_beside_the_runtime_and_the_versions(self):
        done = self.build("--d-head", "128", "--group", "1,8")
        kernels = {f"d128_{dtype}_{mask}_group{group}.so" for dtype in ("float16", "bfloat16")
                   for mask in ("full", "causal") for group in (1, 8)}
        self.assertEqual({path.name for path in self.folder.iterdir()}, kernels | {"libdsl.so", "versions.json"})
        self.assertEqual({pathlib.Path(line).name for line in done.stdout.splitlines()}, kernels)
        library = (self.folder / "d128_bfloat16_causal_group8.so").read_text(encoding="utf-8")
        self.assertTrue(library.startswith("brain 8 True flash4_forward"), library)
        self.assertRegex(library, r"libdsl.so \S*libtvm_ffi.so -Wl,-rpath,\$ORIGIN")
        versions = json.loads((self.folder / "versions.json").read_text(encoding="utf-8"))
        self.assertEqual(versions, {"flash-attn-4": "4.0.0b36", "nvidia-cutlass-dsl": "9", "ptxas": "13.4.59"})
        self.assertIn("written for nvidia-cutlass-dsl 4.8.1, and 9 is installed", done.stderr)

    def library(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def test_kernels_for_other_forms_are_built_beside_the_others(self):
        done = self.build("--d-head", "256", "--dtype", "bfloat16", "--form", "dense,lengths,packed,pages")
        kernels = {f"d256_bfloat16_{mask}_group1{form}.so" for mask in ("full", "causal")
                   for form in ("", "_lengths", "_packed", "_pages")}
        self.assertEqual({pathlib.Path(line).name for line in done.stdout.splitlines()}, kernels)
        for form in ("lengths", "packed", "pages"):
            library = self.library(f"d256_bfloat16_causal_group1_{form}.so")
            self.assertTrue(library.startswith(f"brain 1 True {form} flash4_forward"), library)

    def test_kernels_with_two_head_dimensions_or_other_scores(self):
        one = ("--dtype", "bfloat16", "--mask", "causal")
        self.build("--d-head", "192x128", "--form", "packed", *one)
        self.assertIn("True packed columns 128 flash4", self.library("d192x128_bfloat16_causal_group1_packed.so"))
        self.build("--d-head", "64", "--window", "--sinks", *one)
        self.assertIn("True window sinks flash4", self.library("d64_bfloat16_causal_group1_window_sinks.so"))
        self.build("--d-head", "64", "--softcap", "50", *one)
        self.assertIn("True softcap 50.0 flash4", self.library("d64_bfloat16_causal_group1_softcap50.so"))

    def test_a_small_runtime_takes_the_place_of_the_shared_one(self):
        self.build("--small-runtime", "/cuda/libcudart.so.13")
        runtime = (self.folder / "libdsl.so").read_text(encoding="utf-8")
        self.assertIn("CuteDSLRT_TVMFFISetRaisedCudaError(", runtime)
        self.assertRegex(runtime, r"whole-archive \S*/cute/libcuda_dialect_runtime_static.a .*/cuda/libcudart.so.13\n")

    def test_eight_kernels_are_built_where_nothing_is_said(self):
        self.assertEqual(len(self.build().stdout.splitlines()), 8)

    def test_errors_are_one_line(self):
        self.assertIn("not supported on SM90", self.build("--d-head", "512", code=1).stderr)
        self.assertIn("at least 1", self.build("--group", "0", code=2).stderr)
        self.assertIn("only with --mask causal", self.build("--window", code=2).stderr)
        self.assertIn("unknown: ragged; known: dense, lengths, packed, pages",
                      self.build("--form", "ragged", code=2).stderr)
        self.assertIn("unknown: float8; known: float16, bfloat16", self.build("--dtype", "float8", code=2).stderr)
        (self.packages / "cc").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
        self.assertIn("exit status 3", self.build(code=1).stderr)
        (self.packages / "flash_attn_4-4.0.0b36.dist-info/METADATA").unlink()
        self.assertIn("flash-attn-4", self.build(code=1).stderr)
        self.assertFalse((self.folder / "versions.json").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
