"""Follows Framecast streams that a program of this host receives or publishes, and publishes.

    import framecast

    with framecast.subscribe("framecast:udp?group=224.20.30.39:24326|channel=cam1") as stream:
        for frame in stream:
            print(frame.format, frame.numpy().shape)

Frames are read where the leader of the host group received them. See docs/python.md.
"""

from ._errors import (
    BrokenLeader,
    DeviceError,
    FramecastError,
    KeyFileError,
    LeaderGone,
    NoLeader,
    Refused,
    SourceLost,
    Unsupported,
    UriError,
    VersionMismatch,
)
from ._format import Format, Picture, Samples
from ._frame import Frame, Lost
from ._subscriber import Stats, Subscriber, subscribe

# isort: split
from ._errors import Busy, NoServer, ServerGone, TooLong
from ._publish import Claim, Publisher, publish

__version__ = "0.2.0"

__all__ = [
    "BrokenLeader",
    "DeviceError",
    "Format",
    "Frame",
    "FramecastError",
    "KeyFileError",
    "LeaderGone",
    "Lost",
    "NoLeader",
    "Picture",
    "Refused",
    "Samples",
    "SourceLost",
    "Stats",
    "Subscriber",
    "Unsupported",
    "UriError",
    "VersionMismatch",
    "subscribe",
]

__all__ += ["Busy", "Claim", "NoServer", "Publisher", "ServerGone", "TooLong", "publish"]
