"""Tests scripts/build_flashinfer_modules with fake packages.

usage: build_flashinfer_modules_test.py SCRIPT
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv[1] if len(sys.argv) > 1 else ""
JIT = """
def build_jit_specs(specifications, skip_prebuilt):
    assert not skip_prebuilt
    for one in specifications:
        if one.d_head > 256:
            raise RuntimeError("Ninja build failed")
        one.jit_library_path.write_text(" ".join(one.sources), encoding="utf-8")
"""
ATTENTION = """
import os
import pathlib
import types
def specification(backend, *kind):
    assert kind[:4] in (("brain",) * 3 + ("int",), ("brain", "e4m3", "brain", "int"), ("e4m3", "e4m3", "brain", "int"))
    assert kind[6] == 0
    assert backend != "decode" or (kind[4] == kind[5] and kind[7:9] == (False, False))
    assert os.environ["FLASHINFER_CUDA_ARCH_LIST"] == "9.0a"
    name = f"{backend}_{kind[4]}" + "_window" * kind[7] + "_softcap" * kind[8] + "_8" * kind[:2].count("e4m3")
    sources = [f"{name}_{keys}_kernel_mask_{mask}.cu" for keys in ("paged", "ragged") for mask in range(4)]
    sources.append(f"{name}.cu")
    return types.SimpleNamespace(name=name, d_head=kind[4], sources=sources,
                                 jit_library_path=pathlib.Path(os.environ["BUILT"]) / (name + ".so"))
def gen_batch_decode_module(*kind):
    return specification("decode", *kind)
def gen_batch_prefill_module(backend, *kind):
    return specification(backend, *kind)
def gen_batch_mla_module(backend, *kind):
    *types, values, others, has_profiler = kind
    assert not has_profiler
    return specification(f"mla_{backend}_{others}", *types, values, values, 0, False, False)
"""
PACKAGES = {
    "torch.py": 'bfloat16, int32, float8_e4m3fn = "brain", "int", "e4m3"\n', "flashinfer/__init__.py": '__version__ = "0.8"\n',
    "flashinfer/jit/__init__.py": JIT, "flashinfer/jit/attention/__init__.py": ATTENTION,
    "flashinfer/jit/attention/modules.py":
    "from . import gen_batch_prefill_module as _gen_batch_prefill_primary_module\n",
    "flashinfer/large.py": "", "flashinfer/data/csrc/batch_decode.jinja": "", "flashinfer/data/csrc/other.cu": ""}


class BuildFlashInferModules(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.packages, self.folder = pathlib.Path(scratch.name) / "packages", pathlib.Path(scratch.name) / "tree"
        for name, text in PACKAGES.items():
            path = self.packages / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def build(self, *options, code=0):
        command = [sys.executable, "-B", SCRIPT, str(self.folder), *options]
        environment = {**os.environ, "PYTHONPATH": str(self.packages), "BUILT": str(self.packages)}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def test_the_tree_has_what_is_imported_and_the_modules(self):
        done = self.build("--d-head", "64,128")
        files = {str(file.relative_to(self.folder / "flashinfer")) for file in self.folder.rglob("*") if file.is_file()}
        modules = {f"data/aot/{kind}_{d_head}/{kind}_{d_head}.so" for kind in ("decode", "fa2", "fa3")
                   for d_head in (64, 128)}
        self.assertEqual(files, modules | {"__init__.py", "jit/__init__.py", "jit/attention/__init__.py",
                                           "jit/attention/modules.py", "data/csrc/batch_decode.jinja"})
        self.assertEqual(len(done.stdout.splitlines()), len(modules))
        module = self.folder / "flashinfer" / "data" / "aot" / "fa2_64" / "fa2_64.so"
        sources = ("paged_kernel_mask_0", "paged_kernel_mask_1", "ragged_kernel_mask_1")
        self.assertEqual(module.read_text(encoding="utf-8"),
                         " ".join([*(f"fa2_64_{source}.cu" for source in sources), "fa2_64.cu"]))
        self.assertIn("written for 0.7.2, and 0.8 is installed", done.stderr)

    def test_backends_can_be_left_out(self):
        self.build("--d-head", "256", "--backend", "fa2")
        modules = {file.name for file in (self.folder / "flashinfer" / "data" / "aot").iterdir()}
        self.assertEqual(modules, {"decode_256", "fa2_256"})

    def test_two_head_dimensions_have_packed_keys_alone(self):
        self.build("--d-head", "192x128", "--backend", "fa3")
        folder = self.folder / "flashinfer" / "data" / "aot"
        self.assertEqual([file.name for file in folder.iterdir()], ["fa3_192"])
        module = folder / "fa3_192" / "fa3_192.so"
        self.assertEqual(module.read_text(encoding="utf-8"), "fa3_192_ragged_kernel_mask_1.cu fa3_192.cu")

    def test_windows_and_caps_have_packed_keys_alone(self):
        self.build("--d-head", "64", "--window")
        self.build("--d-head", "64", "--softcap", "--backend", "fa2")
        folder = self.folder / "flashinfer" / "data" / "aot"
        self.assertEqual({file.name for file in folder.iterdir()}, {"fa2_64_window", "fa3_64_window", "fa2_64_softcap"})
        module = folder / "fa3_64_window" / "fa3_64_window.so"
        self.assertNotIn("paged", module.read_text(encoding="utf-8"))

    def sources_of(self, name):
        module = self.folder / "flashinfer" / "data" / "aot" / name / f"{name}.so"
        return module.read_text(encoding="utf-8").split()

    def test_keys_of_eight_bits_are_in_pages(self):
        self.build("--kv-dtype", "e4m3", "--d-head", "64")
        modules = {file.name for file in (self.folder / "flashinfer" / "data" / "aot").iterdir()}
        self.assertEqual(modules, {"decode_64_8", "fa2_64_8"})
        self.assertEqual(self.sources_of("fa2_64_8"), [*(f"fa2_64_8_paged_kernel_mask_{mask}.cu" for mask in (0, 1)),
                                                       "fa2_64_8.cu"])

    def test_keys_are_packed_where_queries_have_eight_bits(self):
        self.build("--dtype", "e4m3", "--d-head", "128")
        modules = {file.name for file in (self.folder / "flashinfer" / "data" / "aot").iterdir()}
        self.assertEqual(modules, {"fa3_128_8_8"})
        self.assertEqual(self.sources_of("fa3_128_8_8"),
                         [*(f"fa3_128_8_8_ragged_kernel_mask_{mask}.cu" for mask in (0, 1)), "fa3_128_8_8.cu"])

    def test_latent_keys_have_the_modules_of_mla_decoding_alone(self):
        self.build("--latent", "--d-head", "192x128")
        self.build("--latent", "--d-head", "256x192", "--backend", "fa3")
        modules = {file.name for file in (self.folder / "flashinfer" / "data" / "aot").iterdir()}
        self.assertEqual(modules, {"mla_fa2_64_128", "mla_fa3_64_128", "mla_fa3_64_192"})
        self.assertIn("Ninja build failed", self.build("--latent", code=1).stderr)  # 576x512: not 64,128,256

    def test_errors_are_one_line(self):
        self.assertIn("without --window and --softcap", self.build("--latent", "--window", code=2).stderr)
        self.assertIn("one of them", self.build("--dtype", "e4m3", "--kv-dtype", "e4m3", code=2).stderr)
        self.assertIn("Ninja build failed", self.build("--d-head", "512", code=1).stderr)
        self.assertIn("at least 1", self.build("--d-head", "0", code=2).stderr)
        self.assertIn("fa2 and fa3", self.build("--backend", "fa4", code=2).stderr)
        (self.packages / "flashinfer" / "jit" / "attention" / "modules.py").unlink()
        self.assertIn("flashinfer.jit.attention.modules", self.build(code=1).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
