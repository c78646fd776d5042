"""Builds the package of `fatune export --to torch` and runs its tests without a GPU. The arguments are fatune and the
file to export, best_configs.json of a sweep. Skipped (77) without PyTorch 2.10 or setuptools."""
import os
import pathlib
import sys
import tempfile

import script_modules  # noqa: F401
from torch_package import export, install, run, skip_without_pytorch

skip_without_pytorch()
with tempfile.TemporaryDirectory() as name:
    package = export(*sys.argv[1:], pathlib.Path(name) / "package")
    site = install(package, pathlib.Path(name))
    for test in ("test_without_gpu.py", "test_serving.py"):
        run(sys.executable, "-B", package / "tests" / test, env={**os.environ, "PYTHONPATH": str(site)})
