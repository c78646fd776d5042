"""Builds the package: the exported library and PyTorch's operators on it, in one shared library.

The name of the folder with __init__.py is the package's name and the operators' namespace. PyTorch's headers are
found without importing it, so that building needs no GPU and none of PyTorch's own libraries.
"""
import importlib.util
import pathlib

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
NAME = next(ROOT.glob("*/__init__.py")).parent.name
LIBRARY = ROOT / "library"  # as `fatune export --to cpp` writes it
TORCH = pathlib.Path(importlib.util.find_spec("torch").origin).parent
# Nothing newer than PyTorch 2.10's interface is used.
TORCH_TARGET_VERSION = "0x020a000000000000"


class BuildWithAssembly(build_ext):
    """Also compiles .S files, which embed the kernels' machine code."""

    def build_extensions(self):
        self.compiler.src_extensions.append(".S")
        super().build_extensions()


def files(*patterns):
    return sorted(str(file.relative_to(ROOT)) for pattern in patterns for file in ROOT.glob(pattern))


extension = Extension(
    f"{NAME}._C",
    sources=files("csrc/*.cpp", "library/src/*.cpp", "library/src/*.S"),
    depends=files("csrc/*.hpp", "library/include/*/*.hpp", "library/src/*.hpp", "library/cubins/*"),
    include_dirs=[str(LIBRARY / "include/fatune_attention"), str(LIBRARY / "src"), str(TORCH / "include")],
    library_dirs=[str(TORCH / "lib")],
    libraries=["dl", "torch", "torch_cpu"],
    define_macros=[("FATUNE_TORCH_NAMESPACE", NAME), ("TORCH_TARGET_VERSION", TORCH_TARGET_VERSION)],
    extra_compile_args=["-std=c++17", "-O2", "-g0", "-fvisibility=hidden", f"-Wa,-I{LIBRARY}"],
    extra_link_args=["-Wl,--no-as-needed"],
    py_limited_api=True,
    language="c++",
)

setup(
    name=NAME,
    version="0.1.0",
    description="Attention by kernels that fatune has tuned",
    python_requires=">=3.10",
    install_requires=["torch>=2.10"],
    packages=[NAME],
    ext_modules=[extension],
    entry_points={"vllm.general_plugins": [f"{NAME} = {NAME}._enable:vllm_plugin"],
                  "sglang.srt.plugins": [f"{NAME} = {NAME}._enable:sglang_plugin"]},
    cmdclass={"build_ext": BuildWithAssembly},
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
