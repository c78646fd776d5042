"""Builds the package of `fatune export --to torch` and runs its tests without a GPU. The arguments are fatune and the
file to export, best_configs.json of a sweep. Skipped (77) without PyTorch 2.10 or setuptools."""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import setuptools  # noqa: F401
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 10):
    print(f"skipped: PyTorch {torch.__version__} is older than 2.10")
    sys.exit(77)


def run(*arguments, **options):
    subprocess.run([str(one) for one in arguments], check=True, **options)


def export(fatune, tuned, folder):
    run(fatune, "export", "--best", tuned, "--to", "torch", "--out", folder, stdout=subprocess.DEVNULL)
    return folder


def install(package, folder):
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run(*pip, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", folder, package)
    wheels = list(folder.glob("fatune_attention-*-cp310-abi3-*.whl"))
    assert len(wheels) == 1, f"one wheel for every Python was expected, not {list(folder.glob('*.whl'))}"
    run(*pip, "install", "--no-deps", "--target", folder / "site", *wheels)
    return folder / "site"


with tempfile.TemporaryDirectory() as name:
    package = export(*sys.argv[1:], pathlib.Path(name) / "package")
    site = install(package, pathlib.Path(name))
    run(sys.executable, "-B", package / "tests" / "test_without_gpu.py", env={**os.environ, "PYTHONPATH": str(site)})
