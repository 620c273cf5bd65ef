"""What `send` takes: where its bytes are, and what they are."""

import ctypes
import sys
from typing import Any, Callable, Optional, Sequence, Tuple

from ._described import buffer_type, dtype_name, element_name
from ._format import Format
from ._frame import Frame

# kDLCPU, kDLCUDAHost, kDLROCMHost: memory that this process reads as it is.
_HOST_KINDS = (1, 3, 11)


class Source:
    """Bytes of a frame."""

    def __init__(
        self,
        nbytes: int,
        copy: Callable[[memoryview], None],
        dtype: Optional[str] = None,
        shape: Sequence[int] = (),
        lanes: int = 1,
        format: Optional[Format] = None,
    ) -> None:
        self.nbytes = nbytes
        self.copy = copy
        """Writes them into a room of so many bytes."""
        # One dimension of uint8 is what a frame without a format is.
        plain = dtype is None or (dtype == "uint8" and len(shape) == 1 and lanes == 1)
        self.key: Any = format if plain else (dtype, tuple(shape), lanes)
        self._format = format if plain else None

    def format(self) -> Optional[Format]:
        """What they are; None: bytes."""
        if self._format is not None or self.key is None:
            return self._format
        dtype, shape, lanes = self.key
        return Format(dtype=dtype, shape=shape, lanes=lanes)


def of(data: Any) -> Source:
    """Raises TypeError for what is neither a buffer nor an array nor a tensor."""
    if isinstance(data, Frame):
        view = data.view()
        return Source(data.nbytes, lambda room: _fill(room, view), format=data.format)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(data, (numpy.ndarray, numpy.generic)):
        return _of_array(numpy, numpy.asarray(data))
    if hasattr(data, "__dlpack__"):
        return _of_tensor(data)
    try:
        view = memoryview(data)
    except TypeError:
        raise TypeError(f"framecast: expected a buffer, an array or a tensor, got {type(data).__name__}") from None
    return _of_buffer(view)


def _fill(room: memoryview, view: memoryview) -> None:
    room[:] = view


def _of_array(numpy: Any, array: Any) -> Source:
    if array.dtype.hasobject:
        raise TypeError(f"framecast: expected numbers, got an array of {array.dtype}")

    def copy(room: memoryview) -> None:
        numpy.ndarray(array.shape, array.dtype, room)[...] = array

    try:
        name = dtype_name(array.dtype)
    except TypeError:
        # Such as records, or numbers of the other byte order.
        return Source(array.nbytes, copy)
    return Source(array.nbytes, copy, name, array.shape)


def _of_buffer(view: memoryview) -> Source:
    def copy(room: memoryview) -> None:
        room[:] = view.cast("B") if view.c_contiguous else view.tobytes()

    return Source(view.nbytes, copy, buffer_type(view), view.shape or ())


class _Tensor(ctypes.Structure):
    """DLTensor, at the beginning of DLManagedTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
_pointer_of.restype = ctypes.c_void_p


def _is_bool(data: Any) -> bool:
    return str(getattr(data, "dtype", "")) == "torch.bool"


def _exported(data: Any) -> Any:
    """PyTorch exports no tensor that records gradients, and before version 2.1 none of bool."""
    exported = data.detach() if hasattr(data, "detach") else data
    return exported.view(sys.modules["torch"].uint8) if _is_bool(data) else exported


def _of_tensor(data: Any) -> Source:
    kind = int(data.__dlpack_device__()[0])
    if kind not in _HOST_KINDS:
        raise TypeError(f"framecast: expected a tensor in host memory, got one on a device of kind {kind}; copy it")
    capsule = _exported(data).__dlpack__()
    # Its own destructor frees it: it is not consumed.
    tensor = _Tensor.from_address(_pointer_of(capsule, b"dltensor") or 0)
    shape = tuple(tensor.shape[: tensor.ndim])
    bits = tensor.bits * tensor.lanes
    if bits % 8 != 0:
        raise TypeError(f"framecast: expected elements of whole bytes, got some of {bits} bits")
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None
    nbytes, rows = _measure(shape, bits // 8)
    begin = (tensor.data or 0) + tensor.byte_offset
    packed = strides is None or all(n == 1 or s == r for n, s, r in zip(shape, strides, rows))

    def copy(room: memoryview, held: Any = capsule) -> None:
        if packed:
            ctypes.memmove((ctypes.c_ubyte * nbytes).from_buffer(room), begin, nbytes)
        else:
            _copy_strided(room, begin, shape, strides or (), bits // 8)

    try:
        name: Optional[str] = "bool" if _is_bool(data) else element_name(tensor.code, tensor.bits)
    except ValueError:
        # A type that formats have no number for.
        name = None
    return Source(nbytes, copy, name, shape, tensor.lanes)


def _measure(shape: Sequence[int], item: int) -> Tuple[int, Tuple[int, ...]]:
    """Bytes of a tensor without gaps, and its strides."""
    rows = []
    elements = 1
    for extent in reversed(shape):
        rows.append(elements)
        elements *= extent
    return elements * item, tuple(reversed(rows))


def _copy_strided(room: memoryview, begin: int, shape: Sequence[int], strides: Sequence[int], item: int) -> None:
    try:
        import numpy
    except ImportError:
        raise TypeError("framecast: a tensor that is not contiguous needs NumPy; send tensor.contiguous()") from None
    steps = [stride * item for stride in strides]
    reach = [(extent - 1) * step for extent, step in zip(shape, steps)]
    below = sum(min(0, bytes_) for bytes_ in reach)
    above = sum(max(0, bytes_) for bytes_ in reach)
    memory: Any = (ctypes.c_ubyte * (above - below + item)).from_address(begin + below)
    # Of any type: bytes are copied.
    element = numpy.dtype(f"V{item}")
    numpy.ndarray(shape, element, room)[...] = numpy.ndarray(shape, element, memory, -below, steps)
