"""A publisher, by `framecast serve --publish URI` of this host."""

import ctypes
import threading
import weakref
from types import TracebackType
from typing import Any, Optional, Sequence, Tuple, Type, Union

from . import _described, _errors, _library, _source
from . import _publish_library as _calls
from ._format import Format

_MS_PER_S = 1000
_LONGEST_MS = 2**31 - 1
# Claims and ends wait in pieces, so that other threads may use the publisher in between.
_PIECE_MS = 100


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

    format: what frames are, for subscribers: an array like the frames, a pair of dtype and shape, text such as
        `640x480xnv12,rate=30`, a mapping, a `Format`, or CBOR. None: `send` describes each array and tensor by itself.
    frame_max: longest frame in bytes. None: `frame-max=` of the URI, else that of the server's channel.
    wait_subscribers: returns when so many are ready. 0: does not wait; frames without a subscriber are dropped.
    timeout: seconds to wait for the server, then for subscribers, and later for the end. None: for ever.
    ring_bytes: of the ring between this process and the server. 0: a few of the longest frames.
    """
    made = Publisher(uri, frame_max=frame_max, timeout=timeout, ring_bytes=ring_bytes)
    try:
        if format is not None:
            made.describe(format, timeout)
        if wait_subscribers > 0:
            made.wait_ready(wait_subscribers, timeout)
    except BaseException:
        made.abandon()
        raise
    return made


def _ms(timeout: Optional[float]) -> int:
    return -1 if timeout is None else int(min(max(0.0, timeout * _MS_PER_S + 0.999), _LONGEST_MS))


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
        # As the user gave it; None: arrays describe themselves.
        self._format: Union[Format, bytes, None] = None
        # Of the frame before, where they do.
        self._key: Any = None

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

    @property
    def format(self) -> Union[Format, bytes, None]:
        """What the frames behind it are: set it to an array like them, a pair of dtype and shape, text such as
        `640x480xnv12,rate=30`, a mapping, a `Format`, or CBOR. None: `send` describes each array and tensor by itself.
        """
        return self._format

    @format.setter
    def format(self, described: Any) -> None:
        self.describe(described, self.timeout)

    def describe(self, described: Any, timeout: Optional[float] = None) -> None:
        """The same as to set `format`, with a time to wait for room; then TimeoutError."""
        if described is None:
            self._plain(timeout)
            self._format = None
            return
        found = _described.to_format(described)
        self._publish_format(_described.encode(found), timeout)
        self._format = found

    def _publish_format(self, cbor: bytes, timeout: Optional[float]) -> None:
        self._wait(
            timeout, "no room", lambda handle, ms, error: _calls.publish_format(handle, cbor, len(cbor), ms, error)
        )

    def _plain(self, timeout: Optional[float]) -> None:
        """What was said before is not said of the frames behind it."""
        if self._format is not None or self._key is not None:
            self._publish_format(_described.NOTHING, timeout)
            self._key = None

    def _announce(self, source: _source.Source, timeout: Optional[float]) -> None:
        """What the next frame is, where that changes and the user did not say it."""
        if self._format is not None or source.key == self._key:
            return
        format = source.format()
        try:
            cbor = None if format is None else _described.encode(format)
        except ValueError:
            # More dimensions, or longer, than formats can say.
            cbor = None
        if cbor is None:
            self._plain(timeout)
        else:
            self._publish_format(cbor, timeout)
            self._key = source.key

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
        if self._format is None:
            self._plain(timeout)
        return self._claim(nbytes, timeout, keyframe, timestamp_ns, metadata)

    def _claim(
        self, nbytes: int, timeout: Optional[float], keyframe: bool, timestamp_ns: Optional[int], metadata: bytes
    ) -> Claim:
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
        given = bytes(metadata)
        options = _calls.CommitOptions(0, int(keyframe), len(given), given, stamp, nbytes)
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
        """Publishes a buffer, a NumPy array, a tensor in host memory (`__dlpack__`), or a frame. It is copied once, into
        the ring, in rows and without gaps, whatever its strides are.

        timestamp_ns: of the source, ns since the epoch. None: the server's clock.
        timeout: seconds to wait for room, then TimeoutError. None: for ever.
        """
        source = _source.of(data)
        if source.nbytes == 0:
            raise ValueError("framecast: expected a frame of at least a byte, got none")
        if source.nbytes <= self.frame_max:
            self._announce(source, timeout)
        with self._claim(source.nbytes, timeout, keyframe, timestamp_ns, metadata) as room:
            source.copy(room.view)

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
