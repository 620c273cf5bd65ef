"""The calls of libframecast that publish, as clients/c/include/framecast.h has them."""

import ctypes

from ._library import Error, _free, _pointer

TIMESTAMP_NOW = -(2**63)


class PublishOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("frame_max", ctypes.c_uint64),
        ("ring_bytes", ctypes.c_uint64),
        ("timeout_ms", ctypes.c_int64),
    ]


class CommitOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("keyframe", ctypes.c_int),
        ("metadata_bytes", ctypes.c_uint32),
        ("metadata", ctypes.c_char_p),
        ("timestamp_ns", ctypes.c_int64),
        ("bytes", ctypes.c_uint64),
    ]


_error = ctypes.POINTER(Error)

publish_open = _free.fc_publish_open
publish_open.argtypes = [ctypes.c_char_p, ctypes.POINTER(PublishOptions), ctypes.POINTER(_pointer), _error]
publish_open.restype = ctypes.c_int

claim = _free.fc_claim
claim.argtypes = [_pointer, ctypes.c_uint64, ctypes.c_int, ctypes.POINTER(_pointer), _error]
claim.restype = ctypes.c_int

commit = _free.fc_commit
commit.argtypes = [_pointer, ctypes.POINTER(CommitOptions), _error]
commit.restype = ctypes.c_int

abort = _free.fc_abort
abort.argtypes = [_pointer]
abort.restype = None

publish_format = _free.fc_publish_format
publish_format.argtypes = [_pointer, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, _error]
publish_format.restype = ctypes.c_int

ready_subscribers = _free.fc_ready_subscribers
ready_subscribers.argtypes = [_pointer]
ready_subscribers.restype = ctypes.c_int

wait_ready = _free.fc_wait_ready
wait_ready.argtypes = [_pointer, ctypes.c_int, ctypes.c_int, _error]
wait_ready.restype = ctypes.c_int

frame_max = _free.fc_publish_frame_max
frame_max.argtypes = [_pointer]
frame_max.restype = ctypes.c_uint64

fd = _free.fc_publish_fd
fd.argtypes = [_pointer]
fd.restype = ctypes.c_int

end = _free.fc_publish_end
end.argtypes = [_pointer, ctypes.c_int, _error]
end.restype = ctypes.c_int

abandon = _free.fc_publish_abandon
abandon.argtypes = [_pointer]
abandon.restype = None
