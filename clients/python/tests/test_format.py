"""What frames are, and arrays that are typed and shaped by it."""

import gc
import unittest
from fractions import Fraction

from support import URI, StreamTest

import framecast

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None
try:
    import cbor2
except ImportError:
    cbor2 = None

# Those of FormatCodecTest.java: 640x480xrgb24, its tensor, 30/s.
RGB24 = bytes.fromhex(
    "a46176016674656e736f72a2647479706583010801657368617065831901e0190280036770696374757265a566706978656c73"
    "657267623234657769647468190280666865696768741901e066706c616e6573818200190780657" + "2616e676500647261746582181e01"
)
PICTURE = framecast.Picture("rgb24", "RGB", 640, 480, ((0, 1920),), "unknown")

# Written by hand, for tests without python3-cbor2.
STRIDED = {
    "v": 1,
    "tensor": {"type": [2, 32, 1], "shape": [3, 2], "strides": [4, 1]},
    "samples": {"rate": 48000.5, "channels": 2},
    "rate": [30000, 1001],
    "keys": {"camera": "Tür"},
}


def encoded(value):
    """CBOR of what tests use."""

    def head(major, number):
        size = next(i for i, most in enumerate((24, 2**8, 2**16, 2**32, 2**64)) if number < most)
        if size == 0:
            return bytes([major << 5 | number])
        return bytes([major << 5 | 23 + size]) + number.to_bytes(1 << size - 1, "big")

    if isinstance(value, dict):
        return head(5, len(value)) + b"".join(encoded(k) + encoded(v) for k, v in value.items())
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(encoded, value))
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, float):
        import struct

        return b"\xfb" + struct.pack(">d", value)
    return head(0, value)


def tensor(code, bits, lanes, *shape):
    return encoded({"v": 1, "tensor": {"type": [code, bits, lanes], "shape": list(shape)}})


class Formats(StreamTest):
    def read(self, *formats, size=4096):
        """A frame of each format."""
        self.publish(len(formats), size=size, window=len(formats), formats=formats)
        with framecast.subscribe(URI) as stream:
            return list(stream)

    def test_all_that_a_format_says(self):
        rgb, strided, same, none = self.read(RGB24, encoded(STRIDED), RGB24, b"\xa0")
        self.assertEqual(
            framecast.Format("uint8", (480, 640, 3), None, PICTURE, None, Fraction(30), {}),
            rgb.format,
        )
        self.assertEqual("640x480xrgb24, uint8[480x640x3], 30/s", str(rgb.format))
        self.assertEqual(
            framecast.Format(
                "float32",
                (3, 2),
                (4, 1),
                samples=framecast.Samples(48000.5, 2),
                rate=Fraction(30000, 1001),
                keys={"camera": "Tür"},
            ),
            strided.format,
        )
        self.assertIs(rgb.format, same.format)
        self.assertIsNone(none.format)

    @unittest.skipIf(cbor2 is None, "cbor2 is not installed: apt install python3-cbor2")
    def test_another_decoder_reads_the_same(self):
        wide = {**STRIDED, "keys": {str(i): "x" * i for i in range(20)}, "later": [{"a": [1.5, None, b"x"]}]}
        written = [RGB24, encoded(STRIDED), cbor2.dumps(wide), tensor(4, 16, 1, 5)]
        for frame, data in zip(self.read(*written), written):
            found, wanted = frame.format, cbor2.loads(data)
            self.assertEqual(1, wanted["v"])
            shape = wanted["tensor"]["shape"]
            self.assertEqual(tuple(shape), found.shape)
            self.assertEqual(wanted["tensor"].get("strides"), found.strides and list(found.strides))
            self.assertEqual(wanted.get("rate"), found.rate and [found.rate.numerator, found.rate.denominator])
            self.assertEqual(wanted.get("keys", {}), found.keys)
            samples = found.samples and {"rate": found.samples.rate, "channels": found.samples.channels}
            self.assertEqual(wanted.get("samples"), samples)
            if "picture" in wanted:
                picture = wanted["picture"]
                self.assertEqual(picture["pixels"], found.picture.pixels)
                self.assertEqual((picture["width"], picture["height"]), (found.picture.width, found.picture.height))
                self.assertEqual(picture["planes"], [list(plane) for plane in found.picture.planes])
                self.assertEqual(picture["range"], ["unknown", "limited", "full"].index(found.picture.range))

    @unittest.skipIf(numpy is None, "NumPy is not installed: apt install python3-numpy")
    def test_arrays_have_the_shape_of_the_format(self):
        types = [(1, 8, 1), (2, 32, 1), (0, 16, 1), (6, 8, 1), (5, 64, 1), (2, 32, 4)]
        names = ["uint8", "float32", "int16", "bool", "complex64", "float32"]
        frames = self.read(*(tensor(*each, 2, 3) for each in types))
        for frame, name, (_, _, lanes) in zip(frames, names, types):
            array = frame.numpy()
            self.assertEqual((2, 3) if lanes == 1 else (2, 3, lanes), array.shape)
            self.assertEqual(numpy.dtype(name), array.dtype)
            self.assertFalse(array.flags.writeable)
            self.assertEqual(frame._data, array.__array_interface__["data"][0])
        self.assertEqual((2, 3), numpy.from_dlpack(frames[1]).shape)
        self.assertEqual(numpy.float32, numpy.from_dlpack(frames[1]).dtype)
        self.assertEqual((1024,), frames[1].numpy("f4").shape)

    @unittest.skipIf(numpy is None, "NumPy is not installed: apt install python3-numpy")
    def test_strides_are_followed(self):
        (frame,) = self.read(encoded(STRIDED))
        for array in (frame.numpy(), numpy.from_dlpack(frame)):
            self.assertEqual((3, 2), array.shape)
            self.assertEqual((16, 4), array.strides)

    @unittest.skipIf(numpy is None, "NumPy is not installed: apt install python3-numpy")
    def test_a_frame_that_is_shorter_than_its_tensor_gives_bytes(self):
        too_long = encoded({"v": 1, "tensor": {"type": [1, 8, 1], "shape": [2, 2], "strides": [4095, 1]}})
        frames = self.read(tensor(1, 8, 1, 4097), too_long, tensor(4, 16, 1, 8), tensor(1, 4, 1, 8), tensor(1, 8, 1, 4096))
        for frame in frames:
            self.assertEqual((4096,), frame.numpy().shape)
            self.assertEqual(numpy.uint8, frame.numpy().dtype)
        self.assertEqual((4096,), numpy.from_dlpack(frames[0]).shape)
        self.assertEqual((4096,), numpy.from_dlpack(frames[1]).shape)

    @unittest.skipIf(torch is None, "PyTorch is not installed: apt install python3-torch")
    def test_torch_knows_bfloat16(self):
        frames = self.read(tensor(4, 16, 1, 2, 8), tensor(1, 8, 1, 4, 4))
        self.assertEqual((torch.bfloat16, (2, 8)), (torch.from_dlpack(frames[0]).dtype, torch.from_dlpack(frames[0]).shape))
        self.assertEqual(16, int(torch.from_dlpack(frames[1]).sum()))

    @unittest.skipIf(numpy is None, "NumPy is not installed: apt install python3-numpy")
    def test_a_shaped_array_holds_the_frame(self):
        self.publish(4, window=3, formats=[tensor(1, 8, 1, 64, 64)])
        with framecast.subscribe(URI, device="host") as stream:
            array = stream.next().numpy()
            gc.collect()
            self.assertEqual((64, 64), array.shape)
            self.assertEqual(1, stream.stats().held)
            del array
            gc.collect()
            self.assertEqual(0, stream.stats().held)


if __name__ == "__main__":
    unittest.main(verbosity=2)
