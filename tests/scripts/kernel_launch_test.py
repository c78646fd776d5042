"""Tests scripts/lib/kernel_launch.py: parameters as bytes."""
import struct
import unittest

from script_modules import run_tests
import kernel_launch

ADDRESSES = {"q": 0x7F00_0000_1000, "lse": 0x10}


def argument(size, scalars=(), addresses=(), tensor_maps=(), alignment=8):
    return {"pointer": "/abi", "bytes": size, "alignment": alignment, "scalars": scalars, "addresses": addresses,
            "tensor_maps": tensor_maps}


def pack(of, encode=None):
    return kernel_launch.pack_argument(of, ADDRESSES.__getitem__, encode)


def launch(**attributes):
    buffers = [{"name": "a", "output": "", "clear": "never"}, {"name": "b", "output": "", "clear": "timed"},
               {"name": "lse", "output": "lse", "clear": "never"},
               {"name": "c", "output": "", "clear": "before_launch"}]
    return {"cluster": [2, 3, 1], "attributes": {"smem_carveout_percent": -1, **attributes},
            "arguments": {"list": [], "buffers": buffers}}


class PackArgument(unittest.TestCase):
    def test_a_struct_is_its_pieces_with_zeros_between(self):
        packed = pack(argument(32, scalars=[{"offset": 20, "bytes": 4, "bits": 0x3E000000},
                                            {"offset": 16, "bytes": 1, "bits": 1},
                                            {"offset": 24, "bytes": 8, "bits": 2**64 - 1}],
                               addresses=[{"offset": 8, "tensor": "q", "byte_offset": 64}]))
        self.assertEqual(packed.content(), struct.pack("<QQB3xfq", 0, ADDRESSES["q"] + 64, 1, 0.125, -1))

    def test_a_tensor_map_is_encoded_for_its_address(self):
        calls = []

        def encode(piece, address):
            calls.append((piece["tensor"], address))
            return b"m" * 128

        packed = pack(argument(192, alignment=64, tensor_maps=[{"offset": 64, "tensor": "lse", "byte_offset": 16}]),
                      encode)
        self.assertEqual(calls, [("lse", 0x20)])
        self.assertEqual(packed.content(), bytes(64) + b"m" * 128)

    def test_memory_is_aligned_as_tensor_maps_need(self):
        self.assertEqual([pack(argument(size)).address % 64 for size in (1, 8, 129)], [0, 0, 0])
        self.assertEqual(pack(argument(4, alignment=256)).address % 256, 0)

    def test_what_does_not_fit_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "4 bytes at 2 do not fit an argument of 4"):
            pack(argument(4, scalars=[{"offset": 2, "bytes": 4, "bits": 0}]))


class Launch(unittest.TestCase):
    def test_clusters_carveout_and_buffers(self):
        self.assertEqual(kernel_launch.cluster_blocks(launch()), 6)
        self.assertEqual(kernel_launch.carveout_percent(launch()), 100)
        self.assertEqual(kernel_launch.carveout_percent(launch(smem_carveout_percent=0)), 0)
        self.assertEqual(kernel_launch.buffers_cleared(launch(), "timed"), ["b"])
        self.assertEqual(kernel_launch.buffers_cleared(launch(), "before_launch"), ["c"])


if __name__ == "__main__":
    run_tests()
