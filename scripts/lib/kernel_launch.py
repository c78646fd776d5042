"""Converts a kernel's launch, as `fatune compile --format json` prints it (docs/launch.md), to bytes for a driver.

Nothing here needs a GPU, a driver or PyTorch.
"""
import ctypes

TENSOR_MAP_BYTES = 128
ALIGNMENT = 64  # of a CUtensorMap
PORTABLE_CLUSTER = 8  # blocks; larger clusters must be allowed
MOST_CARVEOUT_PERCENT = 100


class AlignedBytes:
    """Zeroed host memory, aligned for a tensor map."""

    def __init__(self, size, alignment=ALIGNMENT):
        self._memory = ctypes.create_string_buffer(size + alignment)
        begin = ctypes.addressof(self._memory)
        self.address = -(-begin // alignment) * alignment
        self.size = size

    def put(self, offset, content):
        if offset < 0 or offset + len(content) > self.size:
            raise ValueError(f"{len(content)} bytes at {offset} do not fit an argument of {self.size} bytes")
        ctypes.memmove(self.address + offset, content, len(content))

    def content(self):
        return ctypes.string_at(self.address, self.size)


def pack_argument(argument, address_of, encode_map):
    """Returns the bytes of one parameter.

    address_of(tensor) is its address on the device. encode_map(piece, address) is the 128 bytes of a tensor map.
    """
    packed = AlignedBytes(argument["bytes"], max(ALIGNMENT, argument["alignment"]))
    for scalar in argument["scalars"]:
        packed.put(scalar["offset"], scalar["bits"].to_bytes(scalar["bytes"], "little"))
    for piece in argument["addresses"]:
        packed.put(piece["offset"], (address_of(piece["tensor"]) + piece["byte_offset"]).to_bytes(8, "little"))
    for piece in argument["tensor_maps"]:
        packed.put(piece["offset"], encode_map(piece, address_of(piece["tensor"]) + piece["byte_offset"]))
    return packed


def pack_arguments(launch, address_of, encode_map):
    return [pack_argument(argument, address_of, encode_map) for argument in launch["arguments"]["list"]]


def cluster_blocks(launch):
    x, y, z = launch["cluster"]
    return x * y * z


def carveout_percent(launch):
    percent = launch["attributes"]["smem_carveout_percent"]
    return MOST_CARVEOUT_PERCENT if percent < 0 else percent


def buffers_cleared(launch, when):
    """Names of the buffers that are filled again before each launch, or as part of its time ("timed")."""
    return [buffer["name"] for buffer in launch["arguments"]["buffers"]
            if not buffer["output"] and buffer["clear"] == when]
