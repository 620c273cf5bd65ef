"""A frame in the memory of the leader."""

import ctypes
from typing import Any, NamedTuple, Optional, Sequence, Tuple, Union

from . import _errors, _format, _library
from ._format import Format

_HOST = (1, 0)  # kDLCPU
_CUDA = 2  # kDLCUDA
_VERSIONED = (1, 0)
# DLDataTypeCode of NumPy's kinds.
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
# Of tensors, those that NumPy has by the same names.
_NUMPY_TYPES = frozenset(
    ["bool", "complex64", "complex128", "float16", "float32", "float64"]
    + [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
)
_NOT_OWNED = "the frame is released"


class Lost(NamedTuple):
    """Frames that were lost in front of one, by reason."""

    unrepairable: int
    expired: int
    superseded: int
    awaits_keyframe: int
    damaged: int
    not_a_member: int

    @property
    def total(self) -> int:
        return sum(self)


class Frame:
    """A frame, whose bytes lie in memory that cannot be written.

    It keeps its place in the leader's ring until it is released: by `release`, by the end of a `with` block, or with
    the last reference to it and to all arrays and views that were made of it. Any thread may use it.

    Of a subscriber with a GPU it is in that one's memory, too: `__dlpack__` gives it there, `numpy` and `view` on the host.
    """

    __slots__ = (
        "_address",
        "_cuda_device",
        "_data",
        "_owner",
        "clock_error_ns",
        "clock_offset_ns",
        "flags",
        "format",
        "lost",
        "metadata",
        "nbytes",
        "number",
        "session",
        "timestamp_ns",
        "__weakref__",
    )

    def __init__(self, place: _library.Place, cuda_device: int = -1) -> None:
        """The frame takes a place, which `fc_next` filled."""
        address = place.handle or 0
        # Its destructor is a C function, which releases the frame also while the interpreter ends.
        self._owner: Any = place.owner
        self._address = address
        self._cuda_device = cuda_device
        shown = _library.Frame.from_address(address)
        self._data: int = shown.data
        self.nbytes: int = shown.bytes
        self.number: int = shown.number
        self.session: int = shown.session
        self.timestamp_ns: int = shown.timestamp_ns
        self.clock_offset_ns: int = shown.clock_offset_ns
        self.clock_error_ns: int = shown.clock_error_ns
        self.flags: int = shown.flags
        self.metadata: bytes = ctypes.string_at(shown.metadata, shown.metadata_bytes)
        self.lost = Lost(*shown.lost)
        self.format: Optional[Format] = _format.of_frame(address)

    @property
    def keyframe(self) -> bool:
        """Whether a subscriber may begin here."""
        return bool(self.flags & _library.FRAME_KEYFRAME)

    @property
    def in_place(self) -> bool:
        """Whether the bytes lie where the leader received them."""
        return bool(self.flags & _library.FRAME_IN_PLACE)

    @property
    def copied(self) -> bool:
        """Whether the bytes are this process's own: so under `delivery=latest` and `deadline=T`."""
        return bool(self.flags & _library.FRAME_COPIED)

    @property
    def released(self) -> bool:
        return self._owner is None

    def __len__(self) -> int:
        return self.nbytes

    def __repr__(self) -> str:
        return f"<framecast.Frame {self.number} of {self.nbytes} bytes{' (released)' if self.released else ''}>"

    def _held(self) -> Any:
        """What holds the frame: a call keeps it, for another thread may release the frame meanwhile."""
        owner = self._owner
        if owner is None:
            raise ValueError(_NOT_OWNED)
        return owner

    def view(self) -> memoryview:
        """The bytes, without a copy, not to be written. The view holds the frame."""
        owner = self._held()
        array: Any = (ctypes.c_ubyte * self.nbytes).from_address(self._data)
        array._owner = owner
        return memoryview(array).cast("B").toreadonly()

    def __buffer__(self, flags: int) -> memoryview:
        """`memoryview(frame)`, from Python 3.12 on."""
        return self.view()

    def __bytes__(self) -> bytes:
        """A copy."""
        _owner = self._held()
        return ctypes.string_at(self._data, self.nbytes)

    @property
    def shared_on_device(self) -> bool:
        """Whether it was in device memory already, by another process: so it was copied from there, or is read there."""
        return bool(self.flags & (_library.FRAME_DEVICE_PEER | _library.FRAME_DEVICE_SHARED))

    def device_pointer(self, stream: Any = None) -> int:
        """The frame's address in the GPU's memory, for which a CUDA stream is made to wait.

        stream: its handle, or PyTorch's or CuPy's object; None: the legacy default stream. The frame is to be held until
        the stream has read it: `release(stream)`.
        """
        _owner = self._held()
        address = ctypes.c_void_p()
        error = _library.Error()
        status = _library.frame_device(self._address, _handle(stream), ctypes.byref(address), ctypes.byref(error))
        if status != _library.OK:
            raise _errors.of(status, error)
        return address.value or 0

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _HOST if self._cuda_device < 0 else (_CUDA, self._cuda_device)

    def __dlpack__(
        self,
        *,
        stream: Optional[int] = None,
        max_version: Optional[Tuple[int, int]] = None,
        dl_device: Optional[Tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        """The tensor of the frame's format, without a copy; one dimension of uint8 where it has none, or the frame is
        shorter. The tensor holds the frame; in device memory until the stream has come to where the tensor was freed.
        """
        device = self.__dlpack_device__() if dl_device is None else tuple(dl_device)
        if device not in (_HOST, self.__dlpack_device__()):
            raise BufferError(f"framecast: the frame lies on device {self.__dlpack_device__()}, not on {device}")
        if copy:
            raise BufferError("framecast: frames are given without a copy; copy the array")
        if device == _HOST and stream not in (None, -1):
            raise BufferError("framecast: a frame in host memory has no stream")
        if stream == 0:
            raise BufferError("framecast: stream 0 is ambiguous; take 1 for the legacy default stream, 2 for that of a thread")
        _owner = self._held()
        kind = 0 if device == _HOST else _library.EXPORT_DEVICE
        kind |= _library.EXPORT_VERSIONED if max_version is not None and tuple(max_version) >= _VERSIONED else 0
        handle = _library.STREAM_HOST if stream == -1 else stream
        return _taken(_library.export(self._address, kind, handle), "no memory for a tensor, or no such stream")

    def _tensor(self, code: int, bits: int, shape: Optional[Sequence[int]]) -> Any:
        _owner = self._held()
        dimensions = 0 if shape is None else len(shape)
        extents = (ctypes.c_int64 * dimensions)(*(shape or ()))
        capsule = _library.tensor(self._address, code, bits, 1, dimensions, extents)
        return _taken(capsule, f"{tuple(shape or ())} elements of {bits} bits do not fit into {self.nbytes} bytes")

    def numpy(self, dtype: Any = None, shape: Union[None, int, Sequence[int]] = None) -> Any:
        """A NumPy array over the bytes, without a copy, not to be written. The array holds the frame.

        Without arguments: the tensor of the frame's format; one dimension of uint8 where it has none, where NumPy has no
        such type, or where the frame is shorter. With a dtype and no shape: as many elements as there are.
        """
        import numpy

        if dtype is None and shape is None:
            return self._formatted(numpy)
        wanted = numpy.dtype(numpy.uint8 if dtype is None else dtype)
        if wanted.kind not in _CODES or not wanted.isnative:
            raise TypeError(f"framecast: expected a dtype of native numbers, got {wanted}")
        if shape is None:
            shape = (self.nbytes // wanted.itemsize,)
        elif isinstance(shape, int):
            shape = (shape,)
        return self._array(numpy, _CODES[wanted.kind], wanted.itemsize * 8, shape)

    def _array(self, numpy: Any, code: int, bits: int, shape: Sequence[int]) -> Any:
        array = numpy.from_dlpack(_Shaped(self, code, bits, shape))
        if not self.copied and array.flags.writeable:
            # DLPack 0.x cannot say so.
            array.flags.writeable = False
        return array

    def _formatted(self, numpy: Any) -> Any:
        array = self._array(numpy, 1, 8, (self.nbytes,))
        found = self.format
        if found is None or found.shape is None or found.dtype not in _NUMPY_TYPES:
            return array
        wanted = numpy.dtype(found.dtype)
        # NumPy knows no vectors: their elements are one more dimension.
        vector = (found.lanes,) if found.lanes > 1 else ()
        strides = found.strides and tuple(n * wanted.itemsize * found.lanes for n in found.strides)
        if strides and vector:
            strides += (wanted.itemsize,)
        try:
            return numpy.ndarray(found.shape + vector, wanted, array, strides=strides)
        except (TypeError, ValueError):
            # The frame is shorter.
            return array

    def release(self, stream: Any = None) -> None:
        """Gives back the frame, which arrays and views of it hold nevertheless. Idempotent.

        stream: a CUDA stream that reads it, as for `device_pointer`: the frame is held until that has come this far.
        """
        owner = self._owner
        if stream is not None and owner is not None:
            _library.release_on(self._address, _handle(stream))
        self._owner = None

    def __enter__(self) -> "Frame":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _handle(stream: Any) -> Optional[int]:
    """Of PyTorch's streams and CuPy's, too. NULL is the legacy default stream."""
    for name in ("cuda_stream", "ptr"):
        stream = getattr(stream, name, stream)
    return None if stream is None else int(stream)


def _taken(capsule: Any, failure: str) -> Any:
    """The capsule that a C function made."""
    if capsule is None:
        raise ValueError(f"framecast: {failure}")
    return capsule


class _Shaped:
    """What a library that reads DLPack takes for a tensor."""

    def __init__(self, frame: Frame, code: int, bits: int, shape: Sequence[int]) -> None:
        self._arguments = (code, bits, shape)
        self._frame = frame

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _HOST

    def __dlpack__(self, **_: object) -> Any:
        return self._frame._tensor(*self._arguments)
