"""The calls of the CUDA driver that launch a kernel, through ctypes. They use the calling thread's current context."""
import ctypes
import os

import kernel_launch

# The driver's enums (cuda.h): a name's index is its value. fatune prints these names.
TENSOR_MAP_NAMES = {
    "element_type": ["uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64",
                     "bfloat16", "float32_ftz", "tfloat32", "tfloat32_ftz"],
    "swizzle": ["none", "32b", "64b", "128b", "128b_atom_32b", "128b_atom_32b_flip_8b", "128b_atom_64b"],
    "interleave": ["none", "16b", "32b"],
    "l2_promotion": ["none", "l2_64b", "l2_128b", "l2_256b"],
    "oob_fill": ["none", "nan_request_zero_fma"],
}
# CUfunction_attribute
MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
PREFERRED_SHARED_MEMORY_CARVEOUT = 9
NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14
# CUlaunchAttributeID
COOPERATIVE = 2
CLUSTER_DIMENSION = 4
PROGRAMMATIC_STREAM_SERIALIZATION = 6


class DriverError(Exception):
    """A call that the driver refused, and why."""


class LaunchAttributeValue(ctypes.Union):
    _fields_ = [("pad", ctypes.c_char * 64), ("flag", ctypes.c_int), ("cluster", ctypes.c_uint * 3),
                ("alignment", ctypes.c_void_p)]


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", LaunchAttributeValue)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared_bytes", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LaunchAttribute)),
                ("attribute_count", ctypes.c_uint)]


def launch_attributes(launch):
    """Returns the CUlaunchAttributes of a launch: an array, which may be empty."""
    values = []
    if kernel_launch.cluster_blocks(launch) > 1:
        cluster = LaunchAttributeValue(cluster=(ctypes.c_uint * 3)(*launch["cluster"]))
        values.append(LaunchAttribute(id=CLUSTER_DIMENSION, value=cluster))
    for name, attribute in (("cooperative", COOPERATIVE),
                            ("programmatic_stream_serialization", PROGRAMMATIC_STREAM_SERIALIZATION)):
        if launch["attributes"][name]:
            values.append(LaunchAttribute(id=attribute, value=LaunchAttributeValue(flag=1)))
    return (LaunchAttribute * len(values))(*values)


def launch_config(launch):
    """Returns a CUlaunchConfig without its stream. It keeps its attributes alive."""
    attributes = launch_attributes(launch)
    return LaunchConfig(grid=tuple(launch["grid"]), block=tuple(launch["block"]),
                        shared_bytes=launch["dynamic_smem_bytes"], attributes=attributes,
                        attribute_count=len(attributes))


def tensor_map_values(piece):
    """Returns by name what cuTensorMapEncodeTiled takes of a tensor map, except its location and tensor address."""
    values = {}
    for member, names in TENSOR_MAP_NAMES.items():
        if piece[member] not in names:
            raise ValueError(f"{member} of a tensor map is '{piece[member]}'; known: {', '.join(names)}")
        values[member] = names.index(piece[member])
    rank = len(piece["sizes"])
    for member, items, kind in (("sizes", rank, ctypes.c_uint64), ("strides_bytes", rank - 1, ctypes.c_uint64),
                                ("box", rank, ctypes.c_uint32), ("element_strides", rank, ctypes.c_uint32)):
        if len(piece[member]) != items:
            raise ValueError(f"{member} of a tensor map of {rank} dimensions has {len(piece[member])} numbers")
        values[member] = (kind * items)(*piece[member])
    return {"rank": rank, **values}


class Driver:
    """The driver's library. FATUNE_LIBCUDA names another file, as for fatune itself."""

    def __init__(self):
        path = os.environ.get("FATUNE_LIBCUDA", "libcuda.so.1")
        try:
            self._library = ctypes.CDLL(path)
        except OSError as error:
            raise DriverError(f"{path} cannot be loaded: {error}") from error
        pointer, integer, unsigned = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint
        self._name_of = self._function("cuGetErrorName", integer, pointer)
        self._text_of = self._function("cuGetErrorString", integer, pointer)
        self._version = self._function("cuDriverGetVersion", pointer)
        self._load = self._function("cuModuleLoadData", pointer, ctypes.c_char_p)
        self._find = self._function("cuModuleGetFunction", pointer, pointer, ctypes.c_char_p)
        self._set = self._function("cuFuncSetAttribute", pointer, integer, integer)
        self._launch = self._function("cuLaunchKernelEx", pointer, pointer, pointer, pointer)
        self._encode = self._function("cuTensorMapEncodeTiled", pointer, integer, unsigned, pointer, pointer, pointer,
                                      pointer, pointer, integer, integer, integer, integer)

    def _function(self, name, *types):
        function = getattr(self._library, name, None)
        if function is None:
            raise DriverError(f"the driver has no {name}: update the NVIDIA driver")
        function.argtypes, function.restype = types, ctypes.c_int
        return function

    def _text(self, describe, result):
        text = ctypes.c_char_p()
        describe(result, ctypes.byref(text))
        return text.value.decode() if text.value else "?"

    def check(self, result, what):
        if result != 0:
            raise DriverError(f"{what}: {self._text(self._name_of, result)} ({self._text(self._text_of, result)})")

    def cuda_version(self):
        version = ctypes.c_int()
        self.check(self._version(ctypes.byref(version)), "cuDriverGetVersion")
        return f"{version.value // 1000}.{version.value % 1000 // 10}"

    def load_kernel(self, cubin, symbol):
        """Returns a function of a module that stays loaded."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self._load(ctypes.byref(module), cubin), f"cuModuleLoadData of {len(cubin)} bytes")
        self.check(self._find(ctypes.byref(function), module, symbol.encode()), f"cuModuleGetFunction of {symbol}")
        return function

    def prepare(self, function, launch):
        """Allows a kernel what its launch needs."""
        settings = [(MAX_DYNAMIC_SHARED_SIZE_BYTES, launch["dynamic_smem_bytes"]),
                    (PREFERRED_SHARED_MEMORY_CARVEOUT, kernel_launch.carveout_percent(launch))]
        if kernel_launch.cluster_blocks(launch) > kernel_launch.PORTABLE_CLUSTER:
            settings.append((NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1))
        for attribute, value in settings:
            self.check(self._set(function, attribute, value), f"cuFuncSetAttribute {attribute} to {value}")

    def encode_tensor_map(self, piece, address):
        """Returns the 128 bytes of a CUtensorMap."""
        values = tensor_map_values(piece)
        encoded = kernel_launch.AlignedBytes(kernel_launch.TENSOR_MAP_BYTES)
        result = self._encode(encoded.address, values["element_type"], values["rank"], address, values["sizes"],
                              values["strides_bytes"], values["box"], values["element_strides"], values["interleave"],
                              values["swizzle"], values["l2_promotion"], values["oob_fill"])
        self.check(result, f"cuTensorMapEncodeTiled at {address:#x} of {piece}")
        return encoded.content()

    def launcher(self, function, launch, arguments):
        """Returns a function that queues the kernel on a stream. It keeps the arguments alive."""
        config = launch_config(launch)
        pointers = (ctypes.c_void_p * (len(arguments) + 1))(*[argument.address for argument in arguments])
        reference = ctypes.byref(config)

        def queue(stream, _alive=arguments):
            config.stream = stream
            self.check(self._launch(reference, function, pointers, None), "cuLaunchKernelEx")

        return queue
