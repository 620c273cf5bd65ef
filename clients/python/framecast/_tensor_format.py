"""The format of frames that are one tensor, as CBOR (RFC 8949): {v: 1, tensor: {type: [code, bits, lanes], shape: […]}}."""

from typing import Any, List, Sequence, Tuple

# DLDataTypeCode of NumPy's kinds.
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
# DLDataTypeCode of names that NumPy has no kind for.
_NAMED = {"bfloat16": (4, 16)}


def _head(major: int, value: int) -> bytes:
    """A data item's type and its number, in as few bytes as it takes."""
    if value < 24:
        return bytes([major << 5 | value])
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if value < 1 << 8 * size:
            return bytes([major << 5 | code]) + value.to_bytes(size, "big")
    raise ValueError(f"framecast: {value} is no number of 64 bits")


def _text(text: str) -> bytes:
    encoded = text.encode()
    return _head(3, len(encoded)) + encoded


def _numbers(values: Sequence[int]) -> bytes:
    return _head(4, len(values)) + b"".join(_head(0, value) for value in values)


def _map(items: List[Tuple[str, bytes]]) -> bytes:
    return _head(5, len(items)) + b"".join(_text(key) + value for key, value in items)


def of_tensor(code: int, bits: int, shape: Sequence[int]) -> bytes:
    """The CBOR of a tensor with elements of one lane, in rows."""
    tensor = _map([("type", _numbers((code, bits, 1))), ("shape", _numbers(tuple(shape)))])
    return _map([("v", _head(0, 1)), ("tensor", tensor)])


def _element(dtype: Any) -> Tuple[int, int]:
    name = str(dtype).rsplit(".", 1)[-1]
    if name in _NAMED:
        return _NAMED[name]
    import numpy

    wanted = numpy.dtype(dtype)
    if wanted.kind not in _CODES or not wanted.isnative:
        raise TypeError(f"framecast: expected a dtype of native numbers, got {wanted}")
    return _CODES[wanted.kind], wanted.itemsize * 8


def encode(described: Any) -> bytes:
    """What `format=` of `publish` may be: CBOR, an array, or a pair of dtype and shape."""
    if isinstance(described, (bytes, bytearray, memoryview)):
        return bytes(described)
    if isinstance(described, tuple) and len(described) == 2:
        dtype, shape = described
        shape = (shape,) if isinstance(shape, int) else shape
    elif hasattr(described, "dtype") and hasattr(described, "shape"):
        dtype, shape = described.dtype, described.shape
    else:
        raise TypeError(
            f"framecast: format: expected CBOR, an array, or (dtype, shape) such as ('u1', (1080, 1920, 3)), got {described!r}"
        )
    return of_tensor(*_element(dtype), [int(extent) for extent in shape])
