"""A publisher, by `framecast serve --publish URI` of this host."""

import ctypes
import threading
import weakref
from types import TracebackType
from typing import Any, Optional, Sequence, Tuple, Type

from . import _errors, _library, _tensor_format
from . import _publish_library as _calls
from ._frame import Frame

_MS_PER_S = 1000
_LONGEST_MS = 2**31 - 1
# Claims and ends wait in pieces, so that other threads may use the publisher in between.
_PIECE_MS = 100
_HOST = 1  # kDLCPU


def publish(
    uri: str,
    format: Any = None,
    frame_max: Optional[int] = None,
    wait_subscribers: int = 1,
    timeout: Optional[float] = 30.0,
    *,
    ring_bytes: int = 0,
) -> "Publisher":
    """Publishes on a channel, such as `framecast:udp?group=224.20.30.39:24336|channel=scores`.

    format: what frames are, for subscribers: an array like the frames, a pair of dtype and shape, or CBOR.
    frame_max: longest frame in bytes. None: `frame-max=` of the URI, else that of the server's channel.
    wait_subscribers: returns when so many are ready. 0: does not wait; frames without a subscriber are dropped.
    timeout: seconds to wait for the server, then for subscribers, and later for the end. None: for ever.
    ring_bytes: of the ring between this process and the server. 0: a few of the longest frames.
    """
    made = Publisher(uri, frame_max=frame_max, timeout=timeout, ring_bytes=ring_bytes)
    try:
        if format is not None:
            made.format(format)
        if wait_subscribers > 0:
            made.wait_ready(wait_subscribers, timeout)
    except BaseException:
        made.abandon()
        raise
    return made


def _ms(timeout: Optional[float]) -> int:
    return -1 if timeout is None else min(max(0, int(timeout * _MS_PER_S + 0.999)), _LONGEST_MS)


class _Ring:
    """The memory of a publisher, which arrays and views over claims keep mapped."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        # An interpreter that ends frees nothing: arrays may still be there, and the kernel ends the connection.
        weakref.finalize(self, _calls.close, handle).atexit = False


class Claim:
    """Room for a frame in the ring. `with` commits it, and gives it back after an exception."""

    def __init__(self, publisher: "Publisher", address: int, nbytes: int, arguments: Tuple[bool, Optional[int], bytes]) -> None:
        array: Any = (ctypes.c_ubyte * nbytes).from_address(address)
        array._owner = publisher._ring
        self._publisher = publisher
        self._view: Optional[memoryview] = memoryview(array).cast("B")
        self._arguments = arguments
        self.nbytes = nbytes

    @property
    def view(self) -> memoryview:
        """The bytes, to be written until the commit. They are whatever was there before."""
        if self._view is None:
            raise ValueError("framecast: the claim is committed or aborted")
        return self._view

    def numpy(self, dtype: Any = None, shape: Optional[Sequence[int]] = None) -> Any:
        """The room as a NumPy array; without arguments of uint8. It must not be written after the commit."""
        import numpy

        array = numpy.frombuffer(self.view, numpy.uint8 if dtype is None else dtype)
        return array if shape is None else array.reshape(shape)

    def commit(
        self,
        nbytes: Optional[int] = None,
        *,
        keyframe: Optional[bool] = None,
        timestamp_ns: Optional[int] = None,
        metadata: Optional[bytes] = None,
    ) -> None:
        """Publishes it, or the first `nbytes` of it. Arguments take the place of those of `Publisher.claim`."""
        self._check()
        given = self._arguments
        self._publisher._commit(
            self.nbytes if nbytes is None else nbytes,
            given[0] if keyframe is None else keyframe,
            given[1] if timestamp_ns is None else timestamp_ns,
            given[2] if metadata is None else metadata,
        )
        self._close()

    def abort(self) -> None:
        """Gives it back. Idempotent."""
        if self._view is not None:
            self._close()
            self._publisher._abort()

    def _close(self) -> None:
        view = self._view
        self._view = None
        if view is not None:
            try:
                view.release()
            except BufferError:
                # An array over it is still there. It keeps the memory mapped.
                pass

    def _check(self) -> None:
        if self._view is None:
            raise ValueError("framecast: the claim is committed or aborted")

    def __enter__(self) -> "Claim":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], *_: object) -> None:
        if kind is not None:
            self.abort()
        elif self._view is not None:
            try:
                self.commit()
            except BaseException:
                self.abort()
                raise


class Publisher:
    """Publishes frames. `with` ends the stream, and abandons it after an exception.

    One thread at a time sends; any thread may ask for `ready_subscribers`.
    """

    def __init__(
        self, uri: str, *, frame_max: Optional[int] = None, timeout: Optional[float] = 30.0, ring_bytes: int = 0
    ) -> None:
        options = _calls.PublishOptions(0, frame_max or 0, ring_bytes, _ms(timeout))
        options.size = ctypes.sizeof(options)
        error = _library.Error()
        handle = ctypes.c_void_p()
        status = _library.INTERRUPTED
        # By a signal, whose handler runs in between.
        while status == _library.INTERRUPTED:
            status = _calls.publish_open(uri.encode(), ctypes.byref(options), ctypes.byref(handle), ctypes.byref(error))
        if status != _library.OK:
            raise _errors.of(status, error)
        self.uri = uri
        self.timeout = timeout
        self._ring = _Ring(handle.value or 0)
        self._handle: Optional[int] = handle.value
        self._lock = threading.RLock()
        self._ended = False

    def _open(self) -> int:
        if self._handle is None:
            raise ValueError("framecast: the publisher is closed")
        return self._handle

    def _wait(self, timeout: Optional[float], what: str, call: Any) -> None:
        """Calls until it is done. A signal's handler runs between two calls."""
        left_ms = _ms(timeout)
        error = _library.Error()
        while True:
            piece = _PIECE_MS if left_ms < 0 else min(left_ms, _PIECE_MS)
            with self._lock:
                status = call(self._open(), piece, ctypes.byref(error))
            if status == _library.OK:
                return
            if status not in (_library.WOULD_BLOCK, _library.INTERRUPTED):
                raise _errors.of(status, error)
            if status == _library.WOULD_BLOCK and left_ms >= 0:
                left_ms -= piece
                if left_ms <= 0:
                    raise TimeoutError(f"framecast: {what} within {timeout} s")

    @property
    def frame_max(self) -> int:
        """Bytes of the longest frame."""
        return int(_calls.frame_max(self._open()))

    @property
    def ready_subscribers(self) -> int:
        """Subscribers that get the next frame."""
        return int(_calls.ready_subscribers(self._open()))

    @property
    def ended(self) -> bool:
        """Whether the stream was ended, and the server confirmed it."""
        return self._ended

    def fileno(self) -> int:
        """A descriptor that is readable when there may be room. Call `claim(n, timeout=0)` until TimeoutError first."""
        return int(_calls.fd(self._open()))

    def wait_ready(self, subscribers: int = 1, timeout: Optional[float] = None) -> None:
        """Waits until that many subscribers get the next frame; else raises TimeoutError."""
        self._wait(
            timeout,
            f"fewer than {subscribers} subscribers came",
            lambda handle, ms, error: _calls.wait_ready(handle, subscribers, ms, error),
        )

    def format(self, described: Any, timeout: Optional[float] = None) -> None:
        """Describes the frames behind it: an array like them, a pair of dtype and shape, or CBOR."""
        cbor = _tensor_format.encode(described)
        self._wait(
            timeout, "no room", lambda handle, ms, error: _calls.publish_format(handle, cbor, len(cbor), ms, error)
        )

    def claim(
        self,
        nbytes: int,
        timeout: Optional[float] = None,
        *,
        keyframe: bool = False,
        timestamp_ns: Optional[int] = None,
        metadata: bytes = b"",
    ) -> Claim:
        """Room for a frame, to be written in place. Raises TimeoutError where there is none in time."""
        address = ctypes.c_void_p()
        self._wait(
            timeout,
            "no room",
            lambda handle, ms, error: _calls.claim(handle, nbytes, ms, ctypes.byref(address), error),
        )
        return Claim(self, address.value or 0, nbytes, (keyframe, timestamp_ns, metadata))

    def _commit(self, nbytes: int, keyframe: bool, timestamp_ns: Optional[int], metadata: bytes) -> None:
        if nbytes <= 0:
            raise ValueError(f"framecast: expected a frame of at least a byte, got {nbytes}")
        stamp = _calls.TIMESTAMP_NOW if timestamp_ns is None else timestamp_ns
        options = _calls.CommitOptions(0, int(keyframe), len(metadata), metadata, stamp, nbytes)
        options.size = ctypes.sizeof(options)
        error = _library.Error()
        with self._lock:
            status = _calls.commit(self._open(), ctypes.byref(options), ctypes.byref(error))
        if status != _library.OK:
            raise _errors.of(status, error)

    def _abort(self) -> None:
        with self._lock:
            if self._handle is not None:
                _calls.abort(self._handle)

    def send(
        self,
        data: Any,
        keyframe: bool = False,
        timestamp_ns: Optional[int] = None,
        metadata: bytes = b"",
        timeout: Optional[float] = None,
    ) -> None:
        """Publishes a buffer, a NumPy array, or anything with `__dlpack__` in host memory. It is copied once, into the ring.

        timestamp_ns: of the source, ns since the epoch. None: the server's clock.
        timeout: seconds to wait for room, then TimeoutError. None: for ever.
        """
        source = _source(data)
        nbytes: int = source.nbytes
        with self.claim(nbytes, timeout, keyframe=keyframe, timestamp_ns=timestamp_ns, metadata=metadata) as room:
            if isinstance(source, memoryview):
                room.view[:] = source
            else:
                room.numpy(source.dtype, source.shape)[...] = source

    def end(self, timeout: Optional[float] = None) -> None:
        """Ends the stream: returns when subscribers have acknowledged all of it, or the server waited ten seconds for them."""
        if self._handle is not None and not self._ended:
            self._wait(timeout, "the server did not confirm the end", _calls.end)
            self._ended = True
        self.abandon()

    def abandon(self) -> None:
        """Leaves the stream without an end, unless `end` was there: subscribers report the source lost. Idempotent."""
        with self._lock:
            if self._handle is not None:
                _calls.abandon(self._handle)
                self._handle = None

    def __enter__(self) -> "Publisher":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            if kind is None:
                self.end(self.timeout)
        finally:
            self.abandon()


def _source(data: Any) -> Any:
    """A memoryview of bytes, or a NumPy array, over these data."""
    if isinstance(data, Frame):
        return data.view()
    if type(data).__module__.partition(".")[0] != "numpy":
        try:
            return memoryview(data).cast("B")
        except TypeError:
            # No buffer, or one of elements that cannot be cast, or not in rows.
            pass
    return _array(data)


def _array(data: Any) -> Any:
    try:
        import numpy
    except ImportError:
        raise TypeError(f"framecast: expected a buffer of bytes in rows, got {type(data).__name__}; others need NumPy") from None
    if isinstance(data, (numpy.ndarray, numpy.generic)):
        array = numpy.asarray(data)
    elif hasattr(data, "__dlpack__"):
        kind = data.__dlpack_device__()[0]
        if kind != _HOST:
            raise TypeError(f"framecast: expected a tensor in host memory, got one on a device of kind {int(kind)}; copy it")
        array = numpy.from_dlpack(data)
    else:
        try:
            array = numpy.asarray(memoryview(data))
        except TypeError:
            raise TypeError(f"framecast: expected a buffer, an array or a tensor, got {type(data).__name__}") from None
    if array.dtype.hasobject:
        raise TypeError(f"framecast: expected numbers, got an array of {array.dtype}")
    return array
