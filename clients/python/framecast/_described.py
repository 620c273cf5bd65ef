"""What `format=` of `publish` may be, and its CBOR (docs/formats.md), which libframecast writes."""

import ctypes
import re
import sys
from fractions import Fraction
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union

from . import _library
from ._format import Format, Picture, Samples

# DLDataTypeCode.
_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "complex": 5, "bool": 6}
# Of NumPy's kinds.
_KINDS = {"i": "int", "u": "uint", "f": "float", "c": "complex", "b": "bool"}
# Of the struct module; sizes are those of the buffer.
_STRUCT_KINDS = {**dict.fromkeys("bhilqn", "int"), **dict.fromkeys("BHILQN", "uint"), **dict.fromkeys("efd", "float"), "?": "bool"}
_RANGES = ("unknown", "limited", "full")
_FRACTION_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1

_ELEMENT = re.compile(r"(int|uint|float|bfloat|complex|bool)(\d{1,3})?(?:x(\d{1,5}))?")
_TENSOR = re.compile(r"([a-z]+\d*(?:x\d+)?)\[([\dx]*)\]")
_PICTURE = re.compile(r"(\d{1,5})x(\d{1,5})x([A-Za-z0-9_]+)")
_RATE = re.compile(r"(\d{1,9})(?:/(\d{1,9}))?")
_SAMPLES = re.compile(r"(\d+(?:\.\d+)?)x(\d{1,9})")
_A_TENSOR = "TYPE[SHAPE] such as uint8[480x640x3]"
_A_PICTURE = "WIDTHxHEIGHTxPIXELS such as 1280x720xnv12"
# Names of what has a part of its own in a text.
_NO_KEYS = {
    **dict.fromkeys(("tensor", "type", "dtype", "shape", "strides"), _A_TENSOR),
    **dict.fromkeys(("picture", "video", "pixels", "width", "height", "planes"), _A_PICTURE),
    **dict.fromkeys(("fps", "framerate"), "rate=30 or rate=30000/1001"),
    "channels": "samples=48000x2",
}
_EXPECTED = (
    "expected a Format, an array, (dtype, shape) such as ('u1', (1080, 1920, 3)), text such as '640x480xnv12,rate=30', a"
    " mapping, or CBOR"
)

NOTHING = b"\xa1\x61v\x01"
"""The CBOR of a format that says nothing."""


def _element(name: str) -> Optional[Tuple[int, int, int]]:
    """DLPack's code, bits and lanes of a name such as `float32` or `float32x4`."""
    found = _ELEMENT.fullmatch(name)
    if found is None or (found[2] is None and found[1] != "bool"):
        return None
    return _CODES[found[1]], int(found[2] or 8), int(found[3] or 1)


def dtype_name(dtype: Any) -> str:
    """`float32` of whatever NumPy or PyTorch call that."""
    name = str(dtype).rsplit(".", 1)[-1]
    if _element(name) is not None:
        return name
    try:
        import numpy
    except ImportError:
        raise TypeError(f"framecast: expected a name such as float32, got {dtype!r}; others need NumPy") from None
    wanted = numpy.dtype(dtype)
    if wanted.kind not in _KINDS or not wanted.isnative:
        raise TypeError(f"framecast: expected a dtype of native numbers, got {wanted}")
    return "bool" if wanted.kind == "b" else f"{_KINDS[wanted.kind]}{wanted.itemsize * 8}"


def buffer_type(view: memoryview) -> Optional[str]:
    """The type of a buffer's elements; None for those that formats do not know, or of another byte order."""
    kind = _STRUCT_KINDS.get(view.format.lstrip("@=<" if sys.byteorder == "little" else "@=>"))
    return kind if kind is None or kind == "bool" else f"{kind}{view.itemsize * 8}"


def element_name(code: int, bits: int) -> str:
    for name, known in _CODES.items():
        if known == code:
            return name if (name, bits) == ("bool", 8) else f"{name}{bits}"
    raise ValueError(f"framecast: no type of DLPack has the code {code}")


def _picture_tensor(picture: Picture) -> Dict[str, Any]:
    """The tensor that describes a picture without gaps, if any, as parts of a format."""
    found = _library.Tensor()
    width, height = (_within("picture", length, 1, 65535) for length in (picture.width, picture.height))
    given = _library.Picture(picture.pixels.encode(), None, width, height)
    if not _library.picture_tensor(ctypes.byref(given), ctypes.byref(found)):
        return {}
    return {"dtype": element_name(found.code, found.bits), "shape": tuple(found.shape[: found.dimensions])}


def _of_picture(picture: Picture) -> Dict[str, Any]:
    return {"picture": picture, **({} if picture.planes else _picture_tensor(picture))}


def _shape(text: str) -> Tuple[int, ...]:
    lengths = text.split("x") if text else []
    if any(not length or len(length) > 18 for length in lengths):
        raise ValueError(f"framecast: format: expected a shape such as 480x640x3, got {text}")
    return tuple(int(length) for length in lengths)


def _rate(value: Any) -> Fraction:
    if isinstance(value, str):
        found = _RATE.fullmatch(value)
        if found is None or (found[2] is not None and int(found[2]) == 0):
            raise ValueError(f"framecast: format: expected a rate such as 30 or 30000/1001, got {value!r}")
        return Fraction(int(found[1]), int(found[2] or 1))
    if isinstance(value, tuple):
        return Fraction(*value)
    rate = Fraction(value)
    # 29.97 is a fraction of numbers that are too large, 2997/100 is meant.
    return rate if rate.denominator <= _FRACTION_MAX else rate.limit_denominator(1001)


def _samples(value: Any) -> Samples:
    if isinstance(value, Samples):
        return value
    if isinstance(value, str):
        found = _SAMPLES.fullmatch(value)
        if found is None:
            raise ValueError(f"framecast: format: expected samples such as 48000x2, got {value!r}")
        return Samples(float(found[1]), int(found[2]))
    rate, channels = value
    return Samples(float(rate), int(channels))


def parse(text: str) -> Format:
    """The format of a text as `framecast publish --video` and `--format` take it: parts with commas between them."""
    parts: Dict[str, Any] = {}
    keys: Dict[str, str] = {}
    for part in (piece.strip() for piece in text.split(",")):
        tensor = _TENSOR.fullmatch(part)
        picture = _PICTURE.fullmatch(part)
        name, equals, value = part.partition("=")
        if tensor is not None:
            if _element(tensor[1]) is None:
                raise ValueError(f"framecast: format: expected a type such as uint8, float32 or bool, got {tensor[1]}")
            parts.update(_tensor_parts(tensor[1], _shape(tensor[2])))
        elif picture is not None:
            made = Picture(picture[3], None, int(picture[1]), int(picture[2]), (), "unknown")
            parts = {**_of_picture(made), **parts}
        elif not name or not equals:
            raise ValueError(
                "framecast: format: expected WIDTHxHEIGHTxPIXELS, TYPE[SHAPE] such as uint8[480x640x3], rate=, range=,"
                f" samples=, or another KEY=VALUE, got {part or 'nothing'}"
            )
        elif name == "rate":
            parts["rate"] = _rate(value)
        elif name == "samples":
            parts["samples"] = _samples(value)
        elif name == "range":
            keys["range"] = value
        elif name in _NO_KEYS:
            raise ValueError(f"framecast: format: expected {_NO_KEYS[name]}, got {part}")
        else:
            keys[name] = value
    return Format(**_ranged(parts, keys), keys=keys)


def _ranged(parts: Dict[str, Any], keys: Dict[str, str]) -> Dict[str, Any]:
    """`range=` belongs to the picture, which may come behind it."""
    named = keys.pop("range", None)
    if named is None:
        return parts
    picture = parts.get("picture")
    if picture is None or named not in _RANGES:
        raise ValueError(f"framecast: format: expected range=full, limited or unknown of a picture, got range={named}")
    return {**parts, "picture": Picture(picture.pixels, None, picture.width, picture.height, picture.planes, named)}


def _tensor_parts(dtype: str, shape: Sequence[Any]) -> Dict[str, Any]:
    found = _ELEMENT.fullmatch(dtype)
    vector = found[3] if found is not None else None
    name = dtype if vector is None else dtype[: -len(vector) - 1]
    return {"dtype": name, "lanes": int(vector or 1), "shape": tuple(int(extent) for extent in shape)}


def _of_mapping(given: Mapping[str, Any]) -> Format:
    known = ("dtype", "shape", "strides", "picture", "samples", "rate", "keys", "lanes")
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ValueError(f"framecast: format: expected {', '.join(known)}, got {unknown[0]!r}")
    parts: Dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    picture = parts.get("picture")
    if isinstance(picture, str):
        parts = {**_picture_of_text(picture), **{name: value for name, value in parts.items() if name != "picture"}}
    elif isinstance(picture, Mapping):
        fields = {"gstreamer": None, "planes": (), "range": "unknown", **picture}
        made = Picture(**fields)
        parts = {**_of_picture(made), **parts, "picture": made}
    if "dtype" in parts:
        parts["dtype"] = dtype_name(parts["dtype"])
        parts.setdefault("shape", ())
        parts = {**_tensor_parts(parts["dtype"], parts["shape"]), **parts, "dtype": _tensor_parts(parts["dtype"], ())["dtype"]}
    elif "shape" in parts:
        raise ValueError("framecast: format: expected a dtype beside the shape")
    for name in ("shape", "strides"):
        if name in parts:
            parts[name] = tuple(int(number) for number in parts[name])
    if "samples" in parts:
        parts["samples"] = _samples(parts["samples"])
    if "rate" in parts:
        parts["rate"] = _rate(parts["rate"])
    return Format(**parts)


def _picture_of_text(text: str) -> Dict[str, Any]:
    made = parse(text)
    if made.picture is None:
        raise ValueError(f"framecast: format: expected a picture such as 640x480xnv12, got {text!r}")
    return {name: getattr(made, name) for name in ("picture", "dtype", "shape") if getattr(made, name) is not None}


def to_format(described: Any) -> Union[Format, bytes]:
    """A format, or CBOR as it was given."""
    if isinstance(described, Format):
        return described
    if isinstance(described, str):
        return parse(described)
    if isinstance(described, (bytes, bytearray)):
        return bytes(described)
    if isinstance(described, Mapping):
        return _of_mapping(described)
    if isinstance(described, tuple) and len(described) == 2:
        dtype, shape = described
        return Format(**_tensor_parts(dtype_name(dtype), (shape,) if isinstance(shape, int) else shape))
    if hasattr(described, "dtype") and hasattr(described, "shape"):
        return Format(**_tensor_parts(dtype_name(described.dtype), described.shape))
    try:
        view = memoryview(described)
    except TypeError:
        raise TypeError(f"framecast: format: {_EXPECTED}, got {described!r}") from None
    return _of_buffer(view)


def _of_buffer(view: memoryview) -> Union[Format, bytes]:
    """Bytes are CBOR, others an array like the frames."""
    name = buffer_type(view)
    if name is None:
        raise TypeError(f"framecast: format: expected an array of numbers, got one of {view.format!r}")
    if (name, view.ndim) == ("uint8", 1):
        return view.tobytes()
    return Format(**_tensor_parts(name, view.shape or ()))


def _within(part: str, number: Any, least: int, most: int) -> int:
    """ctypes takes numbers modulo the size of the field."""
    if not least <= number <= most or number != int(number):
        raise ValueError(f"framecast: format: {part}: expected {least} … {most}, got {number}")
    return int(number)


class _Struct:
    """A format as libframecast has it, with what it points to."""

    def __init__(self, format: Format) -> None:
        self.format = _library.Format()
        # Pointers in a struct keep nothing alive.
        self.kept: list = []
        if format.dtype is not None:
            self.format.tensor = self._keep(ctypes.pointer(self._tensor(format)))
        if format.picture is not None:
            self.format.picture = self._keep(ctypes.pointer(self._picture(format.picture)))
        if format.samples is not None:
            self.format.samples = self._keep(ctypes.pointer(self._samples(format.samples)))
        if format.rate is not None:
            self.format.rate = self._keep(ctypes.pointer(self._rate(format.rate)))
        names = [(str(name).encode(), str(value).encode()) for name, value in format.keys.items()]
        if any(b"\0" in text for pair in names for text in pair):
            raise ValueError("framecast: format: keys: expected text without NUL")
        self.format.keys = len(names)
        self.format.key = self._keep((_library.Key * max(1, len(names)))(*names))

    def _keep(self, made: Any) -> Any:
        self.kept.append(made)
        return made

    @staticmethod
    def _tensor(format: Format) -> _library.Tensor:
        element = _element(format.dtype or "")
        shape = format.shape or ()
        strides = format.strides
        if element is None or len(shape) > _library.DIMENSIONS_MAX or (strides is not None and len(strides) != len(shape)):
            raise ValueError(
                f"framecast: format: expected a dtype such as float32, at most {_library.DIMENSIONS_MAX} dimensions, and a"
                f" stride for each or none, got {format.dtype!r} of {len(shape)} dimensions"
            )
        bits = _within("bits", element[1], 1, 255)
        lanes = _within("lanes", element[2] if element[2] > 1 else format.lanes, 1, 65535)
        tensor = _library.Tensor(element[0], bits, lanes, len(shape))
        for i, extent in enumerate(shape):
            tensor.shape[i] = _within("shape", extent, 1, _INT64_MAX)
            tensor.strides[i] = _within("strides", strides[i], 0, _INT64_MAX) if strides else 0
        tensor.strided = 1 if strides else 0
        return tensor

    def _picture(self, picture: Picture) -> _library.Picture:
        if len(picture.planes) > _library.PLANES_MAX or picture.range not in _RANGES:
            raise ValueError(
                f"framecast: format: expected at most {_library.PLANES_MAX} planes, and a range of {', '.join(_RANGES)}"
            )
        width, height = (_within("picture", length, 1, 65535) for length in (picture.width, picture.height))
        made = _library.Picture(picture.pixels.encode(), None, width, height, len(picture.planes))
        made.range = _RANGES.index(picture.range)
        for i, (offset, stride) in enumerate(picture.planes):
            made.plane[i] = _library.Plane(_within("plane", offset, 0, _INT64_MAX), _within("plane", stride, 1, _INT64_MAX))
        return made

    @staticmethod
    def _samples(samples: Samples) -> _library.Samples:
        return _library.Samples(samples.rate, _within("channels", samples.channels, 1, _FRACTION_MAX))

    @staticmethod
    def _rate(rate: Fraction) -> _library.Rate:
        if not 0 < rate.numerator <= _FRACTION_MAX or rate.denominator > _FRACTION_MAX:
            raise ValueError(f"framecast: format: expected a rate of two numbers of at most {_FRACTION_MAX}, got {rate}")
        return _library.Rate(rate.numerator, rate.denominator)


def encode(described: Any) -> bytes:
    """The CBOR of a format."""
    found = to_format(described)
    if isinstance(found, bytes):
        return found
    made = _Struct(found)
    cbor = ctypes.create_string_buffer(_library.FORMAT_BYTES_MAX)
    length = ctypes.c_size_t()
    error = _library.Error()
    status = _library.format_encode(ctypes.byref(made.format), cbor, len(cbor), ctypes.byref(length), ctypes.byref(error))
    if status != _library.OK:
        raise ValueError(f"framecast: {error.text.decode('utf-8', 'replace')}")
    return cbor.raw[: length.value]


def text_of(format: Format) -> str:
    """The line for people."""
    made = _Struct(format)
    room = _library.format_text(ctypes.addressof(made.format), None, 0) + 1
    text = ctypes.create_string_buffer(room)
    _library.format_text(ctypes.addressof(made.format), text, room)
    return text.value.decode()
