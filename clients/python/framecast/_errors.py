"""Statuses of libframecast as exceptions."""

from typing import Dict, Type

from . import _library


class FramecastError(Exception):
    """What failed, and how to fix it, in one line."""


class UriError(FramecastError, ValueError):
    """The URI cannot be read."""


class Unsupported(FramecastError, ValueError):
    """A key of the URI asks for what a follower cannot do."""


class NoLeader(FramecastError):
    """No process receives or publishes the channel on this host."""


class LeaderGone(FramecastError):
    """The leader is gone, and no other one came in time."""


class SourceLost(FramecastError):
    """The source is gone without an end of stream."""


class VersionMismatch(FramecastError):
    """The leader speaks another layout of the host segment."""


class Refused(FramecastError):
    """The leader takes no further follower."""


class DeviceError(FramecastError):
    """No CUDA driver, no such GPU, or it failed."""


class KeyFileError(FramecastError):
    """The key file of auth= cannot be used."""


class BrokenLeader(FramecastError):
    """The leader shared what cannot be read."""


_CLASSES: Dict[int, Type[FramecastError]] = {
    _library.SOURCE_LOST: SourceLost,
    _library.LEADER_GONE: LeaderGone,
    _library.E_URI: UriError,
    _library.E_UNSUPPORTED: Unsupported,
    _library.E_NO_LEADER: NoLeader,
    _library.E_VERSION: VersionMismatch,
    _library.E_REFUSED: Refused,
    _library.E_BROKEN: BrokenLeader,
    _library.E_DEVICE: DeviceError,
    _library.E_KEY: KeyFileError,
}


class NoServer(FramecastError):
    """No process publishes for clients of the channel on this host."""


class Busy(FramecastError):
    """Another client publishes on the channel."""


class ServerGone(FramecastError):
    """The server is gone, or gave the stream up."""


class TooLong(FramecastError, ValueError):
    """A frame, format or metadata is longer than the stream takes."""


_CLASSES.update(
    {
        _library.SERVER_GONE: ServerGone,
        _library.E_NO_SERVER: NoServer,
        _library.E_BUSY: Busy,
        _library.E_TOO_LONG: TooLong,
    }
)


def of(status: int, error: _library.Error) -> FramecastError:
    return _CLASSES.get(status, FramecastError)(error.text.decode("utf-8", "replace"))
