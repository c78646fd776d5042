#!/usr/bin/env python3
"""Tunes flash_decode on a few problems, exports a PyTorch package, and checks that it decodes.

The package's own checks compare it with PyTorch's attention of each sequence alone, replay CUDA graphs with other
lengths of keys, and time the host's part of a call. Needs a GPU and PyTorch 2.10 or newer:
torch_decode.py --fatune build/ci/bin/fatune
"""

import argparse
import os
import pathlib
import sys
import tempfile

from sweep_tools import skip_without_gpu

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts/lib"))
from torch_package import export, install, run, skip_without_pytorch  # noqa: E402

PROBLEMS = ("--family flash_decode --space ci --dhead 128 --dtype fp16,bf16 --seq 1,16 --seq-kv 4096 --batch 8 --heads 32 "
            "--kv-heads 8").split()
CHECKS = "decode decode_graph decode_host host graph streams opcheck compile".split()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fatune", required=True, help="the program")
    parser.add_argument("--count", type=int, default=200, help="a quarter as many problems of decoding are checked")
    options = parser.parse_args()
    skip_without_gpu(options.fatune)
    skip_without_pytorch()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(options.fatune, "sweep", "--require-gpu", "--no-db", "--quiet", *PROBLEMS, "--best", folder / "best.json")
        package = export(options.fatune, folder / "best.json", folder / "package")
        site = install(package, folder)
        run(sys.executable, "-B", package / "tests" / "check_on_gpu.py", *CHECKS, "--count", options.count,
            env={**os.environ, "PYTHONPATH": str(site)})


if __name__ == "__main__":
    main()
