"""libframecast by ctypes: its structs and functions, as clients/c/include/framecast.h has them."""

import ctypes
import os
from pathlib import Path

OK = 0
EMPTY = 1
INTERRUPTED = 2
END_OF_STREAM = 3
SOURCE_LOST = 4
LEADER_GONE = 5
E_ARGUMENT = -1
E_URI = -2
E_UNSUPPORTED = -3
E_DIRECTORY = -4
E_NO_LEADER = -5
E_VERSION = -6
E_REFUSED = -7
E_BROKEN = -8
E_RESOURCES = -9
# Of publishers.
WOULD_BLOCK = 6
SERVER_GONE = 7
E_NO_SERVER = -10
E_BUSY = -11
E_TOO_LONG = -12
# Of subscribers.
E_DEVICE = -13
# Of both.
E_KEY = -14

FRAME_KEYFRAME = 1
FRAME_IN_PLACE = 2
FRAME_COPIED = 4
FRAME_DEVICE_PEER = 8
FRAME_DEVICE_SHARED = 16

DEVICE_OF_URI = -1
DEVICE_NONE = -2
STREAM_HOST = ctypes.c_void_p(-1).value
EXPORT_DEVICE = 1
EXPORT_VERSIONED = 2

PLACE_FRAME = 0
PLACE_SUBSCRIBER = 1
PLACE_PUBLISHER = 2

LOSS_REASONS = 6
DIMENSIONS_MAX = 16
PLANES_MAX = 4
FORMAT_BYTES_MAX = 1024

_SONAME = "libframecast.so.0"


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 508)]


class Frame(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_uint64),
        ("number", ctypes.c_uint64),
        ("session", ctypes.c_uint64),
        ("timestamp_ns", ctypes.c_int64),
        ("clock_offset_ns", ctypes.c_int64),
        ("clock_error_ns", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("metadata_bytes", ctypes.c_uint32),
        ("metadata", ctypes.c_void_p),
        ("lost", ctypes.c_uint64 * LOSS_REASONS),
    ]


class Options(ctypes.Structure):
    # The handler of losses stays NULL: it would need the interpreter's lock under one of the library's.
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("leader_wait_ms", ctypes.c_int64),
        ("on_loss", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("on_wait", ctypes.c_void_p),
        ("cuda_device", ctypes.c_int32),
    ]


class Stats(ctypes.Structure):
    _fields_ = [
        ("frames", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("lost", ctypes.c_uint64 * LOSS_REASONS),
        ("sessions", ctypes.c_uint64),
        ("leaders", ctypes.c_uint64),
        ("held", ctypes.c_uint64),
        ("leader_process", ctypes.c_int32),
        ("leader_is_publisher", ctypes.c_int32),
    ]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("dimensions", ctypes.c_int32),
        ("shape", ctypes.c_int64 * DIMENSIONS_MAX),
        ("strides", ctypes.c_int64 * DIMENSIONS_MAX),
        ("strided", ctypes.c_int32),
        ("bytes", ctypes.c_int64),
    ]


class Plane(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_int64), ("stride", ctypes.c_int64)]


class Picture(ctypes.Structure):
    _fields_ = [
        ("pixels", ctypes.c_char_p),
        ("gstreamer", ctypes.c_char_p),
        ("width", ctypes.c_int32),
        ("height", ctypes.c_int32),
        ("planes", ctypes.c_int32),
        ("range", ctypes.c_int),
        ("plane", Plane * PLANES_MAX),
    ]


class Samples(ctypes.Structure):
    _fields_ = [("rate", ctypes.c_double), ("channels", ctypes.c_int32)]


class Rate(ctypes.Structure):
    _fields_ = [("numerator", ctypes.c_int32), ("denominator", ctypes.c_int32)]


class Key(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class Format(ctypes.Structure):
    _fields_ = [
        ("id", ctypes.c_uint64),
        ("tensor", ctypes.POINTER(Tensor)),
        ("picture", ctypes.POINTER(Picture)),
        ("samples", ctypes.POINTER(Samples)),
        ("rate", ctypes.POINTER(Rate)),
        ("keys", ctypes.c_uint32),
        ("key", ctypes.POINTER(Key)),
    ]


def _candidates() -> "list[str]":
    named = os.environ.get("FRAMECAST_LIBRARY")
    if named:
        return [named]
    built = Path(__file__).resolve().parents[2] / "c" / "build" / _SONAME
    return ([str(built)] if built.exists() else []) + [_SONAME]


def _find() -> str:
    failures = []
    for path in _candidates():
        try:
            ctypes.CDLL(path)
            return path
        except OSError as e:
            failures.append(str(e))
    raise ImportError(
        f"framecast: no {_SONAME}: {'; '.join(failures)}; run make in clients/c, install it, or set FRAMECAST_LIBRARY"
    )


PATH = _find()
# Calls of the first let other threads run meanwhile; those of the second keep the interpreter's lock, and are short.
_free = ctypes.CDLL(PATH)
_locked = ctypes.PyDLL(PATH)

_pointer = ctypes.c_void_p

subscribe = _free.fc_subscribe
subscribe.argtypes = [ctypes.c_char_p, ctypes.POINTER(Options), ctypes.POINTER(_pointer), ctypes.POINTER(Error)]
subscribe.restype = ctypes.c_int

next_frame = _free.fc_next
next_frame.argtypes = [_pointer, ctypes.c_int, ctypes.POINTER(_pointer), ctypes.POINTER(Error)]
next_frame.restype = ctypes.c_int

cuda_device = _locked.fc_cuda_device
cuda_device.argtypes = [_pointer]
cuda_device.restype = ctypes.c_int

fd = _free.fc_fd
fd.argtypes = [_pointer]
fd.restype = ctypes.c_int

wake = _free.fc_wake
wake.argtypes = [_pointer]
wake.restype = None

stats_of = _free.fc_stats_of
stats_of.argtypes = [_pointer, ctypes.POINTER(Stats)]
stats_of.restype = None

# Of a place.
close = _free.fc_python_give_back
close.argtypes = [_pointer]
close.restype = None

tensor = _locked.fc_python_tensor
tensor.argtypes = [_pointer, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_int64)]
# None where memory is short, or where shape and type need more than the frame has.
tensor.restype = ctypes.py_object

export = _locked.fc_python_export
export.argtypes = [_pointer, ctypes.c_int, _pointer]
export.restype = ctypes.py_object

frame_device = _free.fc_frame_device
frame_device.argtypes = [_pointer, _pointer, ctypes.POINTER(_pointer), ctypes.POINTER(Error)]
frame_device.restype = ctypes.c_int

release_on = _free.fc_python_release_on
release_on.argtypes = [_pointer, _pointer]
release_on.restype = None

frame_format = _locked.fc_frame_format
frame_format.argtypes = [_pointer]
frame_format.restype = _pointer

format_text = _locked.fc_format_text
format_text.argtypes = [_pointer, ctypes.c_char_p, ctypes.c_size_t]
format_text.restype = ctypes.c_int

format_encode = _locked.fc_format_encode
format_encode.argtypes = [
    ctypes.POINTER(Format), ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(Error)
]
format_encode.restype = ctypes.c_int

picture_tensor = _locked.fc_picture_tensor
picture_tensor.argtypes = [ctypes.POINTER(Picture), ctypes.POINTER(Tensor)]
picture_tensor.restype = ctypes.c_int

_place = _locked.fc_python_place
_place.argtypes = [ctypes.c_int]
_place.restype = ctypes.py_object

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
_pointer_of.restype = ctypes.c_void_p

version = _free.fc_version
version.restype = ctypes.c_char_p


class Place:
    """Room for a handle, which a call of the library fills in.

    What is there when the last reference to `owner` is gone is given back, by a C function: also a handle that an interrupt
    behind the call kept from the caller. A finalizer in Python would print an interrupt, and swallow it.
    """

    __slots__ = ("owner", "cell")

    def __init__(self, kind: int) -> None:
        self.owner = _place(kind)
        if self.owner is None:
            raise MemoryError
        self.cell = ctypes.c_void_p.from_address(_pointer_of(self.owner, b"framecast.place") or 0)

    @property
    def handle(self) -> "int | None":
        return self.cell.value

    def close(self) -> None:
        """Gives back what is there. Idempotent."""
        if self.cell.value is not None:
            close(ctypes.addressof(self.cell))
