"""A publisher, by `framecast serve --publish URI` of this host."""

import ctypes
import threading
import weakref
from types import TracebackType
from typing import Any, Callable, Optional, Sequence, Tuple, Type, Union

from . import _described, _errors, _library, _source
from . import _publish_library as _calls
from ._format import Format

_MS_PER_S = 1000
_LONGEST_MS = 2**31 - 1
# Claims and ends wait in pieces, so that other threads may use the publisher in between.
_PIECE_MS = 100
# A program that forgets to commit makes so many claims in vain.
_LEFT_MAX = 16
_GONE = "framecast: the claim is committed or aborted, or the thread that made it has claimed again"


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


def _nobody() -> Optional["Claim"]:
    return None


class Claim:
    """Room for a frame in the ring. `with` commits it, and gives it back after an exception.

    It is given back, too, when the thread that made it claims again, or the last reference to it is gone: an interrupt may come
    anywhere, between the call that makes a claim and the assignment of its result, too.
    """

    def __init__(self, publisher: "Publisher", nbytes: int, arguments: Tuple[bool, Optional[int], bytes]) -> None:
        self._publisher = publisher
        self._thread = threading.get_ident()
        self._view: Optional[memoryview] = None
        self._lost = False
        self._arguments = arguments
        self.nbytes = nbytes

    def _map(self, address: int) -> None:
        array: Any = (ctypes.c_ubyte * self.nbytes).from_address(address)
        # Arrays and views over claims keep the ring mapped.
        array._owner = self._publisher._place.owner
        self._view = memoryview(array).cast("B")

    @property
    def view(self) -> memoryview:
        """The bytes, to be written until the commit. They are whatever was there before."""
        view = self._view
        if view is None or not self._is_current():
            raise ValueError(_GONE)
        return view

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
        if self._view is None or not self._is_current():
            raise ValueError(_GONE)
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
        # In this order: where an interrupt comes between, the next call does it again.
        if self._is_current():
            self._publisher._abort()
            self._publisher._settle()
        self._close()

    def _is_current(self) -> bool:
        return self._publisher._current() is self

    def _lose(self) -> None:
        self._lost = self._view is not None
        self._close()

    def _close(self) -> None:
        view = self._view
        self._view = None
        if view is not None:
            try:
                view.release()
            except BufferError:
                # An array over it is still there. It keeps the memory mapped.
                pass

    def __enter__(self) -> "Claim":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], *_: object) -> None:
        if kind is not None:
            self.abort()
        elif self._lost:
            raise ValueError(_GONE)
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
        place = _library.Place(_library.PLACE_PUBLISHER)
        try:
            status = _library.INTERRUPTED
            # By a signal, whose handler runs in between.
            while status == _library.INTERRUPTED:
                status = _calls.publish_open(
                    uri.encode(), ctypes.byref(options), ctypes.byref(place.cell), ctypes.byref(error)
                )
            if status != _library.OK:
                raise _errors.of(status, error)
            self.uri = uri
            self.timeout = timeout
            self._place = place
            self._handle = place.handle
            self._lock = threading.RLock()
            self._ended = False
            # As the user gave it, and its CBOR; None: arrays describe themselves.
            self._user: Optional[Tuple[Union[Format, bytes], bytes]] = None
            # Key and CBOR of the frame before, where they do.
            self._own: Tuple[Any, bytes] = (None, _described.NOTHING)
            # The format that readers know; None: not known, for an interrupt came.
            self._said: Optional[bytes] = _described.NOTHING
            # The newest claim, or None where the last reference to it is gone.
            self._current: Callable[[], Optional[Claim]] = _nobody
            # Whether it is neither committed nor aborted, and how many in a row were left like that.
            self._claimed = False
            self._left = 0
        except BaseException:
            # Else the server would have a client as long as somebody has the traceback.
            place.close()
            raise

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
        return None if self._user is None else self._user[0]

    @format.setter
    def format(self, described: Any) -> None:
        self.describe(described, self.timeout)

    def describe(self, described: Any, timeout: Optional[float] = None) -> None:
        """The same as to set `format`, with a time to wait for room; then TimeoutError."""
        if described is None:
            self._say(_described.NOTHING, timeout)
            self._user = None
            return
        found = _described.to_format(described)
        cbor = _described.encode(found)
        self._say(cbor, timeout)
        self._user = (found, cbor)

    def _say(self, cbor: bytes, timeout: Optional[float]) -> None:
        """The frames behind this are of that format."""
        if cbor == self._said:
            return
        self._give_back()
        # An interrupt may come behind the call.
        self._said = None
        self._wait(
            timeout, "no room", lambda handle, ms, error: _calls.publish_format(handle, cbor, len(cbor), ms, error)
        )
        self._said = cbor

    def _announce(self, source: Optional[_source.Source], timeout: Optional[float]) -> None:
        """What the next frame is: as the user said, else as it describes itself. None: it does not."""
        if self._user is not None:
            self._say(self._user[1], timeout)
            return
        if source is None:
            self._own = (None, _described.NOTHING)
        elif source.key != self._own[0]:
            format = source.format()
            try:
                cbor = _described.NOTHING if format is None else _described.encode(format)
            except ValueError:
                # More dimensions, or longer, than formats can say.
                cbor = _described.NOTHING
            self._own = (source.key, cbor)
        self._say(self._own[1], timeout)

    def claim(
        self,
        nbytes: int,
        timeout: Optional[float] = None,
        *,
        keyframe: bool = False,
        timestamp_ns: Optional[int] = None,
        metadata: bytes = b"",
    ) -> Claim:
        """Room for a frame, to be written in place. Raises TimeoutError where there is none in time.

        A claim of the same thread that is still open is given back.
        """
        self._announce(None, timeout)
        return self._claim(nbytes, timeout, keyframe, timestamp_ns, metadata)

    def _claim(
        self, nbytes: int, timeout: Optional[float], keyframe: bool, timestamp_ns: Optional[int], metadata: bytes
    ) -> Claim:
        self._give_back()
        made = Claim(self, nbytes, (keyframe, timestamp_ns, metadata))
        address = ctypes.c_void_p()
        self._wait(
            timeout,
            "no room",
            lambda handle, ms, error: _calls.claim(handle, nbytes, ms, ctypes.byref(address), error),
        )
        made._map(address.value or 0)
        self._current = weakref.ref(made)
        self._claimed = True
        return made

    def _give_back(self) -> None:
        """The claim of before, which an interrupt may have left open. One that another thread has stays: that may be at work."""
        claim = self._current()
        if claim is not None and claim._view is not None and claim._thread != threading.get_ident():
            return
        if claim is not None:
            claim._lose()
        self._abort()
        self._left += self._claimed
        self._claimed = False
        if self._left >= _LEFT_MAX:
            self._left = 0
            raise _errors.FramecastError(
                f"framecast: the last {_LEFT_MAX} claims were neither committed nor aborted; call commit() or abort() on each, or"
                " take `with`"
            )

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
        self._settle()

    def _abort(self) -> None:
        with self._lock:
            if self._handle is not None:
                _calls.abort(self._handle)

    def _settle(self) -> None:
        """The claim is committed or aborted."""
        self._claimed = False
        self._left = 0

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
            self._give_back()
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
