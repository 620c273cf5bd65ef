"""A subscriber that follows a host group."""

import asyncio
import atexit
import ctypes
import os
import threading
import weakref
from typing import Any, AsyncIterator, Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from . import _errors, _library
from ._frame import Frame, Lost

_MS_PER_S = 1000
_LONGEST_MS = 2**31 - 1
_LONGEST_WAIT_MS = 2**62
_CLOSED = "framecast: the subscriber is closed"


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
    if kind != "cuda" or not (number or "0").isdecimal() or int(number or "0") > _LONGEST_MS:
        raise _errors.Unsupported(f"framecast: device: expected 'host' or 'cuda:0', got {device!r}")
    return int(number or "0")


class _Life:
    """A subscriber's handle. It is freed when no call has it any more: a handler of signals, the end of the interpreter or
    another thread may close the subscriber while one does.
    """

    def __init__(self) -> None:
        # Also freed by a C function, with its last reference.
        self.place = _library.Place(_library.PLACE_SUBSCRIBER)
        self.closing = False
        # Tasks that wait.
        self.waiting: "Set[Tuple[asyncio.AbstractEventLoop, asyncio.Future[Any]]]" = set()
        self.reset()

    def reset(self) -> None:
        # Held by the thread that reads. A handler of signals may close within a call of its own thread.
        self.lock = threading.RLock()
        self.reading = 0
        # Held by short calls, behind the other one.
        self.short = threading.RLock()
        self.looking = 0

    def open(self) -> int:
        handle = self.place.handle
        if self.closing or handle is None:
            raise ValueError(_CLOSED)
        return handle

    def look(self, call: Callable[[int], Any]) -> Any:
        try:
            with self.short:
                self.looking += 1
                try:
                    return call(self.open())
                finally:
                    self.looking -= 1
        finally:
            if self.closing:
                self.close()

    def free(self) -> None:
        """Behind the last call. With the lock."""
        with self.short:
            if self.reading == 0 and self.looking == 0:
                self.place.close()

    def close(self) -> None:
        self.closing = True
        with self.short:
            handle = self.place.handle
            if handle is not None:
                _library.wake(handle)
        for loop, ready in list(self.waiting):
            try:
                loop.call_soon_threadsafe(_set, ready)
            except RuntimeError:
                # The loop is closed.
                pass
        with self.lock:
            self.free()


# No WeakSet: its callbacks are in Python, where an interrupt would be printed and swallowed.
_lives: "List[weakref.ref[_Life]]" = []


def _register(life: _Life) -> None:
    for each in list(_lives):
        if each() is None:
            try:
                _lives.remove(each)
            except ValueError:
                # Another thread was faster.
                pass
    _lives.append(weakref.ref(life))


def _living() -> "List[_Life]":
    return [life for life in (each() for each in list(_lives)) if life is not None]


def _in_child() -> None:
    """Threads that held locks are not there."""
    for life in _living():
        life.reset()


def _at_exit() -> None:
    for life in _living():
        life.close()


os.register_at_fork(after_in_child=_in_child)
atexit.register(_at_exit)


class Subscriber:
    """Iterates over frames until the end of the stream. One thread at a time reads; any thread may close it."""

    def __init__(self, uri: str, *, device: Optional[str] = None, leader_wait: Optional[float] = 10.0) -> None:
        options = _library.Options()
        options.size = ctypes.sizeof(options)
        options.cuda_device = _cuda_device(device)
        wait_ms = -1 if leader_wait is None else min(max(0, leader_wait * _MS_PER_S), _LONGEST_WAIT_MS)
        options.leader_wait_ms = int(wait_ms)
        error = _library.Error()
        life = _Life()
        try:
            status = _library.INTERRUPTED
            # By a signal, whose handler runs in between.
            while status == _library.INTERRUPTED:
                status = _library.subscribe(
                    uri.encode(), ctypes.byref(options), ctypes.byref(life.place.cell), ctypes.byref(error)
                )
            if status != _library.OK:
                raise _errors.of(status, error)
            self.uri = uri
            self._cuda_device = _library.cuda_device(life.place.handle)
            self._ended = False
            # By thread. What an interrupt kept from a caller stays there for the next call.
            self._places: Dict[int, _library.Place] = {}
            self._life = life
            _register(life)
        except BaseException:
            # Else it would hold the stream up as long as somebody has the traceback.
            life.close()
            raise

    def next(self, timeout: Optional[float] = None) -> Optional[Frame]:
        """The next frame. None: none within `timeout` seconds (without one: for ever), or the stream has ended."""
        ms = -1 if timeout is None else int(min(max(0, timeout * _MS_PER_S + 0.999), _LONGEST_MS))
        places = self._places
        thread = threading.get_ident()
        place = places.get(thread)
        if place is None:
            place = places[thread] = _library.Place(_library.PLACE_FRAME)
        frame = self._fill(place, ms)
        if frame is not None:
            # Interpreters look for signals behind calls, and not behind a deletion.
            try:
                del places[thread]
            except KeyError:
                # Another thread has closed the subscriber.
                pass
        return frame

    def _fill(self, place: _library.Place, ms: int) -> Optional[Frame]:
        error = _library.Error()
        life = self._life
        while True:
            with life.lock:
                life.reading += 1
                try:
                    handle = life.open()
                    status = _library.OK
                    if place.handle is None:
                        status = _library.next_frame(handle, ms, ctypes.byref(place.cell), ctypes.byref(error))
                    if status == _library.OK:
                        return Frame(place, self._cuda_device)
                finally:
                    life.reading -= 1
                    if life.closing:
                        life.free()
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
        return int(self._life.look(_library.fd))

    def __aiter__(self) -> AsyncIterator[Frame]:
        return self

    async def __anext__(self) -> Frame:
        self.fileno()
        while True:
            frame = self.next(0)
            if frame is not None:
                return frame
            if self._ended:
                raise StopAsyncIteration
            await self._readable()

    def stats(self) -> Stats:
        found = _library.Stats()
        self._life.look(lambda handle: _library.stats_of(handle, ctypes.byref(found)))
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
        self._life.close()
        self._places.clear()

    async def _readable(self) -> None:
        """Until there is news, or the subscriber is closed."""
        life = self._life
        loop = asyncio.get_running_loop()
        ready: "asyncio.Future[Any]" = loop.create_future()
        # One of its own: the number of the other is free again as soon as the subscriber is closed.
        descriptor = os.dup(self.fileno())
        life.waiting.add((loop, ready))
        loop.add_reader(descriptor, _set, ready)
        try:
            if not life.closing:
                await ready
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)
            life.waiting.discard((loop, ready))

    def __enter__(self) -> "Subscriber":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _set(ready: "asyncio.Future[Any]") -> None:
    if not ready.done():
        ready.set_result(None)
