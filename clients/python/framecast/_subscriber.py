"""A subscriber that follows a host group."""

import asyncio
import ctypes
import threading
import weakref
from typing import Any, AsyncIterator, Iterator, NamedTuple, Optional

from . import _errors, _library
from ._frame import Frame, Lost

_MS_PER_S = 1000
_LONGEST_MS = 2**31 - 1


class Stats(NamedTuple):
    """Counts since the subscription."""

    frames: int
    bytes: int
    lost: Lost
    sessions: int
    leaders: int
    held: int
    leader_process: int
    leader_is_publisher: bool


def subscribe(uri: str, *, device: Optional[str] = None, leader_wait: Optional[float] = 10.0) -> "Subscriber":
    """Follows the host group of a channel, such as `framecast:udp?group=224.20.30.39:24326|channel=cam1`.

    device: `host`, or `cuda:N`: a GPU, by its number in the CUDA driver, to which frames are copied as well. Without it
    that of `device=cuda:N` in the URI, where it has this key.
    leader_wait: seconds to wait for a leader, now and whenever one is gone. None: for ever.
    """
    return Subscriber(uri, device=device, leader_wait=leader_wait)


def _cuda_device(device: Optional[str]) -> int:
    if device is None:
        return _library.DEVICE_OF_URI
    if device == "host":
        return _library.DEVICE_NONE
    kind, _, number = device.partition(":")
    if kind != "cuda" or not (number or "0").isdecimal():
        raise _errors.Unsupported(f"framecast: device: expected 'host' or 'cuda:0', got {device!r}")
    return int(number or "0")


class Subscriber:
    """Iterates over frames until the end of the stream. One thread at a time reads; any thread may close it."""

    def __init__(self, uri: str, *, device: Optional[str] = None, leader_wait: Optional[float] = 10.0) -> None:
        options = _library.Options()
        options.size = ctypes.sizeof(options)
        options.cuda_device = _cuda_device(device)
        options.leader_wait_ms = -1 if leader_wait is None else max(0, int(leader_wait * _MS_PER_S))
        error = _library.Error()
        handle = ctypes.c_void_p()
        status = _library.INTERRUPTED
        # By a signal, whose handler runs in between.
        while status == _library.INTERRUPTED:
            status = _library.subscribe(uri.encode(), ctypes.byref(options), ctypes.byref(handle), ctypes.byref(error))
        if status != _library.OK:
            raise _errors.of(status, error)
        self.uri = uri
        self._handle: Optional[int] = handle.value
        self._cuda_device = _library.cuda_device(handle)
        # A handler of signals may close the subscriber within a call of its own thread.
        self._lock = threading.RLock()
        # Held by short calls, so that none of them finds a subscriber that is freed.
        self._life = threading.RLock()
        self._closing = False
        self._ended = False
        self._close = weakref.finalize(self, _library.close, handle.value)

    def _open(self) -> int:
        if self._closing or self._handle is None:
            raise ValueError("framecast: the subscriber is closed")
        return self._handle

    def next(self, timeout: Optional[float] = None) -> Optional[Frame]:
        """The next frame. None: none within `timeout` seconds (without one: for ever), or the stream has ended."""
        ms = -1 if timeout is None else min(max(0, int(timeout * _MS_PER_S + 0.999)), _LONGEST_MS)
        error = _library.Error()
        address = ctypes.c_void_p()
        while True:
            with self._lock:
                handle = self._open()
                status = _library.next_frame(handle, ms, ctypes.byref(address), ctypes.byref(error))
                if status == _library.OK:
                    return Frame(address.value or 0, self._cuda_device)
            if status == _library.END_OF_STREAM:
                self._ended = True
            if status in (_library.END_OF_STREAM, _library.EMPTY):
                return None
            # By a signal, whose handler has run by now, or by close.
            if status != _library.INTERRUPTED:
                raise _errors.of(status, error)

    @property
    def device(self) -> str:
        """`host`, or `cuda:N`."""
        return "host" if self._cuda_device < 0 else f"cuda:{self._cuda_device}"

    @property
    def ended(self) -> bool:
        """Whether the source ended the stream, and all of it was read."""
        return self._ended

    def __iter__(self) -> Iterator[Frame]:
        return self

    def __next__(self) -> Frame:
        frame = self.next()
        if frame is None:
            raise StopIteration
        return frame

    def fileno(self) -> int:
        """A descriptor that is readable when `next` has something to say. Call `next(0)` until it gives None first."""
        with self._life:
            return int(_library.fd(self._open()))

    def __aiter__(self) -> AsyncIterator[Frame]:
        return self

    async def __anext__(self) -> Frame:
        descriptor = self.fileno()
        while True:
            frame = self.next(0)
            if frame is not None:
                return frame
            if self._ended:
                raise StopAsyncIteration
            await _readable(descriptor)

    def stats(self) -> Stats:
        found = _library.Stats()
        with self._life:
            _library.stats_of(self._open(), ctypes.byref(found))
        return Stats(
            found.frames,
            found.bytes,
            Lost(*found.lost),
            found.sessions,
            found.leaders,
            found.held,
            found.leader_process,
            bool(found.leader_is_publisher),
        )

    def close(self) -> None:
        """Frames that are held stay readable. Idempotent."""
        self._closing = True
        with self._life:
            if self._handle is not None:
                _library.wake(self._handle)
        with self._lock, self._life:
            self._handle = None
            self._close()

    def __enter__(self) -> "Subscriber":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ready: "asyncio.Future[Any]" = loop.create_future()

    def on_readable() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(descriptor, on_readable)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
