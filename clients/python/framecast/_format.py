"""What frames are: docs/formats.md."""

import ctypes
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Dict, Mapping, Optional, Tuple

from . import _library

_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
# By the number that libframecast gives a format: equal numbers are equal formats.
_known: "Dict[int, Format]" = {}
_KNOWN_MAX = 256


@dataclass(frozen=True)
class Picture:
    """The frame's bytes as a picture of raw pixels."""

    pixels: str
    """The pixel format's name in ffmpeg, such as `nv12`."""
    gstreamer: Optional[str]
    """Its name in GStreamer 1.22; None where that has none."""
    width: int
    height: int
    planes: Tuple[Tuple[int, int], ...]
    """Offset and stride of each, in bytes."""
    range: str
    """`unknown`, `limited` or `full`."""


@dataclass(frozen=True)
class Samples:
    """The frame's bytes as samples in time, channels interleaved."""

    rate: float
    channels: int


@dataclass(frozen=True)
class Format:
    """What a frame is, as its publisher said. Nothing in it is checked against the frame's bytes."""

    dtype: Optional[str] = None
    """The type of the tensor's elements, such as `uint8`, `float32` or `bfloat16`; None without a tensor."""
    shape: Optional[Tuple[int, ...]] = None
    strides: Optional[Tuple[int, ...]] = None
    """In elements; None where the tensor is row-major without gaps."""
    picture: Optional[Picture] = None
    samples: Optional[Samples] = None
    rate: Optional[Fraction] = None
    """Frames a second."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Anything else, such as `camera`."""
    lanes: int = 1
    """More than 1: each element is a vector of so many."""
    text: str = field(default="", compare=False, repr=False)

    @classmethod
    def parse(cls, text: str) -> "Format":
        """Of a text such as `640x480xnv12,rate=30` or `float32[3x224x224],model=resnet` (docs/formats.md). A picture without
        gaps has its tensor, too, where one describes it.
        """
        from . import _described

        return _described.parse(text)

    def __str__(self) -> str:
        from . import _described

        try:
            return self.text or _described.text_of(self)
        except ValueError:
            # Of a format that a program made, and that makes no sense.
            return repr(self)


def _dtype(tensor: _library.Tensor) -> str:
    kind = _KINDS[tensor.code]
    bits = "" if (kind, tensor.bits) == ("bool", 8) else str(tensor.bits)
    return kind + bits


def _picture(found: _library.Picture) -> Picture:
    return Picture(
        found.pixels.decode(),
        found.gstreamer.decode() if found.gstreamer else None,
        found.width,
        found.height,
        tuple((plane.offset, plane.stride) for plane in found.plane[: found.planes]),
        ("unknown", "limited", "full")[found.range],
    )


def _text(address: int) -> str:
    room = _library.format_text(address, None, 0) + 1
    text = ctypes.create_string_buffer(room)
    _library.format_text(address, text, room)
    return text.value.decode()


def _make(address: int, found: _library.Format) -> Format:
    parts: Dict[str, Any] = {}
    if found.tensor:
        tensor = found.tensor.contents
        parts["dtype"] = _dtype(tensor)
        parts["lanes"] = tensor.lanes
        parts["shape"] = tuple(tensor.shape[: tensor.dimensions])
        parts["strides"] = tuple(tensor.strides[: tensor.dimensions]) if tensor.strided else None
    if found.picture:
        parts["picture"] = _picture(found.picture.contents)
    if found.samples:
        parts["samples"] = Samples(found.samples.contents.rate, found.samples.contents.channels)
    if found.rate:
        parts["rate"] = Fraction(found.rate.contents.numerator, found.rate.contents.denominator)
    parts["keys"] = {found.key[i].name.decode(): found.key[i].value.decode() for i in range(found.keys)}
    return Format(text=_text(address), **parts)


def of_frame(address: int) -> Optional[Format]:
    """The format of a frame that is held."""
    at = _library.frame_format(address)
    if not at:
        return None
    found = _library.Format.from_address(at)
    known = _known.get(found.id)
    if known is None:
        known = _make(at, found)
        if len(_known) >= _KNOWN_MAX:
            _known.clear()
        _known[found.id] = known
    return known
