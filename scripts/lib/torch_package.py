"""Exports, builds and installs the package of `fatune export --to torch`."""
import pathlib
import subprocess
import sys

SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def run(*arguments, **options):
    subprocess.run([str(one) for one in arguments], check=True, **options)


def skip_without_pytorch():
    """Ends the script, with the reason, without setuptools or PyTorch 2.10."""
    try:
        import setuptools  # noqa: F401
        import torch
    except ImportError as missing:
        print(f"skipped: {missing}")
        sys.exit(SKIPPED)
    if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 10):
        print(f"skipped: PyTorch {torch.__version__} is older than 2.10")
        sys.exit(SKIPPED)


def export(fatune, tuned, folder):
    run(fatune, "export", "--best", tuned, "--to", "torch", "--out", folder, stdout=subprocess.DEVNULL)
    return folder


def install(package, folder):
    """Builds the wheel in the folder. Returns the folder in which it is installed."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run(*pip, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", folder, package)
    wheels = list(pathlib.Path(folder).glob("fatune_attention-*-cp310-abi3-*.whl"))
    assert len(wheels) == 1, f"one wheel for every Python was expected, not {list(pathlib.Path(folder).glob('*.whl'))}"
    run(*pip, "install", "--no-deps", "--target", folder / "site", *wheels)
    return folder / "site"
