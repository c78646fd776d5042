"""Tests scripts/lib/cuda_driver.py on the fake driver (tests/fake_cuda), with kernels that fatune compiles.

usage: cuda_driver_test.py FATUNE LIBCUDA
"""
import ctypes
import json
import os
import re
import struct
import sys
import tempfile
import unittest

from script_modules import ROOT, run_tests
import cuda_driver
import fatune_program
import kernel_launch

FATUNE, os.environ["FATUNE_LIBCUDA"] = sys.argv[1:3]
CLUSTER = "(ws, FP16, 64, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_2+persistent"
PROBLEM = {"batch": 2, "seq_len": 512, "heads": 4, "d_head": 64, "dtype": "FP16", "causal": True, "kv_heads": 2}
ADDRESSES = {name: (number + 1) << 32 for number, name in enumerate(["q", "k", "v", "o", "next_tile"])}
HOOK = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))


def tensor_map(**members):
    return {"tensor": "q", "element_type": "bfloat16", "sizes": [64, 100], "strides_bytes": [256], "box": [64, 32],
            "element_strides": [1, 1], "swizzle": "128b", "interleave": "none", "l2_promotion": "l2_256b",
            "oob_fill": "none", **members}


class Layout(unittest.TestCase):
    def test_structs_are_those_of_cuda_h(self):
        self.assertEqual(ctypes.sizeof(cuda_driver.LaunchAttribute), 72)
        self.assertEqual(cuda_driver.LaunchAttribute.value.offset, 8)
        self.assertEqual(ctypes.sizeof(cuda_driver.LaunchConfig), 56)
        self.assertEqual(cuda_driver.LaunchConfig.stream.offset, 32)
        self.assertEqual(cuda_driver.LaunchConfig.attribute_count.offset, 48)

    def test_names_are_those_that_fatune_has(self):
        header = (ROOT / "src/model/kernel_code.hpp").read_text(encoding="utf-8")
        lists = {name: re.findall(r'"(\w+)"', text)
                 for name, text in re.findall(r"std::string_view, \d+> (k\w+)\{([^}]*)\}", header)}
        self.assertEqual(list(lists.values()), list(cuda_driver.TENSOR_MAP_NAMES.values()))

    def test_values_of_a_tensor_map(self):
        values = cuda_driver.tensor_map_values(tensor_map())
        self.assertEqual((values["rank"], values["element_type"], values["swizzle"], values["l2_promotion"]),
                         (2, 9, 3, 3))
        self.assertEqual((list(values["sizes"]), list(values["strides_bytes"])), ([64, 100], [256]))
        with self.assertRaisesRegex(ValueError, "swizzle of a tensor map is '1b'; known: none, 32b"):
            cuda_driver.tensor_map_values(tensor_map(swizzle="1b"))
        with self.assertRaisesRegex(ValueError, "box of a tensor map of 2 dimensions has 1"):
            cuda_driver.tensor_map_values(tensor_map(box=[64]))


class OnTheFakeDriver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = ctypes.CDLL(os.environ["FATUNE_LIBCUDA"])
        cls.library.cuInit(0)
        cls.library.fatune_fake_grid.restype = ctypes.POINTER(ctypes.c_uint)
        with tempfile.TemporaryDirectory() as folder:
            cls.kernel = fatune_program.compile_kernel(FATUNE, CLUSTER, PROBLEM, "sm_90a", folder)
        cls.driver = cuda_driver.Driver()

    def launched(self):
        """Returns the parameters of a launch as the kernel would see them."""
        launch = self.kernel["launch"]
        function = self.driver.load_kernel(self.kernel["cubin"], self.kernel["symbol"])
        self.driver.prepare(function, launch)
        arguments = kernel_launch.pack_arguments(launch, ADDRESSES.__getitem__, self.driver.encode_tensor_map)
        seen = []

        def see(_name, pointers):
            seen.extend(ctypes.string_at(pointers[i], one.size) for i, one in enumerate(arguments))

        hook = HOOK(see)
        self.library.fatune_fake_on_launch(hook)
        self.driver.launcher(function, launch, arguments)(0)
        self.library.fatune_fake_on_launch(None)
        return seen

    def test_a_hopper_kernel_gets_its_maps_and_its_struct(self):
        *maps, work = self.launched()
        self.assertEqual([struct.unpack("<Q", one[8:16])[0] for one in maps],
                         [ADDRESSES[name] for name in ("q", "k", "v", "o")])
        self.assertEqual({len(one) for one in maps}, {128})
        lengths = struct.unpack("<6i", work[32:56])
        self.assertEqual(lengths, (512, 512, 4, 2, 8, 2))
        self.assertEqual(struct.unpack("<f", work[72:76])[0], 0.125)
        grid = self.library.fatune_fake_grid()
        self.assertEqual(list(grid[0:3]), self.kernel["launch"]["grid"])

    def test_a_cluster_is_an_attribute(self):
        attribute, = cuda_driver.launch_attributes(self.kernel["launch"])
        self.assertEqual((attribute.id, list(attribute.value.cluster)), (4, [2, 1, 1]))
        flags = {"cooperative": True, "programmatic_stream_serialization": True}
        plain = {"cluster": [1, 1, 1], "attributes": flags}
        self.assertEqual([(one.id, one.value.flag) for one in cuda_driver.launch_attributes(plain)], [(2, 1), (6, 1)])

    def test_what_the_driver_says_is_in_the_error(self):
        with self.assertRaisesRegex(cuda_driver.DriverError, "cuModuleGetFunction of nobody: CUDA_ERROR_NOT_FOUND"):
            self.driver.load_kernel(self.kernel["cubin"], "nobody")
        with self.assertRaisesRegex(cuda_driver.DriverError, "cuTensorMapEncodeTiled at 0x40 of .*INVALID_VALUE"):
            self.driver.encode_tensor_map(tensor_map(strides_bytes=[250]), 0x40)

    def test_a_driver_that_is_too_old_is_named(self):
        old = os.environ["FATUNE_LIBCUDA"].replace("libfake_cuda.so", "libfake_cuda_old.so")
        self.addCleanup(os.environ.update, FATUNE_LIBCUDA=os.environ["FATUNE_LIBCUDA"])
        os.environ["FATUNE_LIBCUDA"] = old
        with self.assertRaisesRegex(cuda_driver.DriverError, "no cuLaunchKernelEx: update"):
            cuda_driver.Driver()
        os.environ["FATUNE_LIBCUDA"] = "/nonexistent/libcuda.so"
        with self.assertRaisesRegex(cuda_driver.DriverError, "/nonexistent/libcuda.so cannot be loaded"):
            cuda_driver.Driver()


class Schema(unittest.TestCase):
    def test_every_member_used_is_described(self):
        schema = json.loads((ROOT / "configs/schema/compile.schema.json").read_text(encoding="utf-8"))
        described = schema["definitions"]["tensor_map"]["properties"]
        self.assertLessEqual(set(tensor_map()), set(described))


if __name__ == "__main__":
    run_tests()
