"""Publishers, by the real tool: FRAMECAST_TOOL is its path."""

import array
import ctypes
import gc
import json
import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import weakref
import zlib
from fractions import Fraction
from pathlib import Path

from test_frames import FRAMES, descriptors, resident_kib

import framecast
from framecast import _described, _source

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

TOOL = os.environ.get("FRAMECAST_TOOL")
PORT = int(os.environ.get("FRAMECAST_TEST_PORT", "26100"))


RGB24 = bytes.fromhex(
    "a4617601 6674656e736f72a2647479706583010801657368617065831901e019028003 6770696374757265a566706978656c7365726762"
    "3234657769647468190280666865696768741901e066706c616e65738182001907806572616e676500 647261746582181e01"
)
"""docs/formats.md: a picture of 640 × 480 at 30 frames a second."""


def tensor_hex(code, bits, shape):
    """By RFC 8949, for lengths below 256."""
    number = lambda n: f"{n:02x}" if n < 24 else f"18{n:02x}"
    extents = "".join(number(n) for n in shape)
    return f"a2617601 6674656e736f72 a264747970658{3}{number(code)}{number(bits)}01 657368617065{0x80 + len(shape):02x}{extents}"


def tensor(code, bits, *shape):
    return bytes.fromhex(tensor_hex(code, bits, shape))


class Formats(unittest.TestCase):
    """What `format=` may be."""

    def encodes(self, expected, described):
        self.assertEqual(expected.hex(), _described.encode(described).hex())

    def test_pictures(self):
        for described in (
            "640x480xrgb24,rate=30",
            " rate=30 , 640x480xrgb24",
            framecast.Format.parse("640x480xrgb24,rate=30/1"),
            {"picture": "640x480xrgb24", "rate": 30},
            {"picture": "640x480xrgb24", "rate": 30, "dtype": None, "samples": None},
            {"picture": {"pixels": "rgb24", "width": 640, "height": 480}, "rate": "30"},
            {"picture": {"pixels": "rgb24", "width": 640, "height": 480, "planes": [(0, 1920)]}, "rate": 30,
             "dtype": "u1" if numpy else "uint8", "shape": (480, 640, 3)},
            RGB24,
            memoryview(RGB24),
        ):
            self.encodes(RGB24, described)

    def test_a_picture_without_a_tensor(self):
        self.assertEqual("33x17xnv12", str(framecast.Format.parse("33x17xnv12")))
        self.assertEqual("32x16xnv12, uint8[24x32]", str(framecast.Format.parse("32x16xnv12")))
        # Rows with gaps are no tensor without them.
        gaps = {"picture": {"pixels": "gray", "width": 3, "height": 2, "planes": [(0, 4)]}}
        self.assertEqual("3x2xgray", str(_described.to_format(gaps)))

    def test_tensors(self):
        self.encodes(tensor(2, 32, 3, 224, 10), "float32[3x224x10]")
        self.encodes(tensor(2, 32, 3, 224, 10), ("float32", (3, 224, 10)))
        self.encodes(tensor(2, 32, 3, 224, 10), {"dtype": "float32", "shape": [3, 224, 10]})
        self.encodes(tensor(4, 16, 7), ("bfloat16", 7))
        self.encodes(tensor(6, 8), "bool[]")
        self.encodes(tensor(0, 16, 7), array.array("h", range(7)))
        made = framecast.Format(dtype="float32", shape=(4, 6), strides=(12, 2), lanes=4)
        self.assertEqual("float32x4[4x6]", str(made))
        self.encodes(_described.encode(made), {"dtype": "float32x4", "shape": (4, 6), "strides": (12, 2)})

    def test_the_rest(self):
        for described in ("samples=48000x2,rate=30000/1001,camera=left", {"samples": (48000, 2), "rate": 30000 / 1001, "keys": {"camera": "left"}}):
            found = _described.to_format(described)
            self.assertEqual(framecast.Samples(48000.0, 2), found.samples)
            self.assertEqual(Fraction(30000, 1001), found.rate)
            self.assertEqual({"camera": "left"}, found.keys)
        self.assertIn("quad", str(framecast.Format(dtype="quad")))
        self.assertEqual("full", framecast.Format.parse("range=full,4x4xgray").picture.range)

    def test_what_is_no_format(self):
        for wrong, error, part in (
            (5, TypeError, "format: expected a Format, an array"),
            (None, TypeError, "expected a Format"),
            (object(), TypeError, "expected a Format"),
            ("", ValueError, "expected WIDTHxHEIGHTxPIXELS.*got nothing"),
            ("u1", ValueError, "expected WIDTHxHEIGHTxPIXELS"),
            ("640x480xrgb25", ValueError, "picture: expected a pixel format"),
            ("70000x480xrgb24", ValueError, "picture: expected 1 … 65535, got 70000"),
            ("quad32[4]", ValueError, "expected a type such as"),
            ("uint8[4xx4]", ValueError, "expected a shape such as"),
            ("uint8[0]", ValueError, "shape: expected 1"),
            ("uint8[99999999999999999]x", ValueError, "expected WIDTH"),
            ("range=full", ValueError, "range=full, limited or unknown of a picture"),
            ("4x4xgray,range=some", ValueError, "got range=some"),
            ("rate=0", ValueError, "expected a rate"),
            ("rate=1/0", ValueError, "expected a rate"),
            ("samples=2", ValueError, "expected samples such as"),
            ("shape=banana", ValueError, r"expected TYPE\[SHAPE\] such as uint8\[480x640x3\], got shape=banana"),
            ({"shape": (1,)}, ValueError, "expected a dtype beside the shape"),
            ({"picture": {"pixels": "gray"}}, TypeError, "width"),
            ({"dtype": "quad"}, TypeError, "quad"),
            ({"colour": 1}, ValueError, "expected dtype, shape.*got 'colour'"),
            (framecast.Format(dtype="uint8", shape=(2**64 + 1,)), ValueError, "shape: expected 1"),
            (framecast.Format(dtype="uint8", shape=(1,) * 17), ValueError, "at most 16 dimensions"),
            (framecast.Format(dtype="uint8", shape=(2, 2), strides=(1,)), ValueError, "stride for each or none"),
            (framecast.Format(keys={"a": "b" * 1100}), ValueError, "shorten its keys"),
            (framecast.Format(keys={"a": "b\0"}), ValueError, "without NUL"),
            (framecast.Format(keys={str(i): "" for i in range(33)}), ValueError, "at most 32"),
            (framecast.Format(samples=framecast.Samples(-1.0, 1)), ValueError, "samples: expected a rate above 0"),
        ):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(error, part):
                _described.encode(wrong)

    @unittest.skipIf(numpy is None, "no NumPy")
    def test_arrays_and_dtypes(self):
        self.encodes(tensor(1, 8, 2, 3), numpy.zeros((2, 3), "u1"))
        self.encodes(tensor(0, 64, 7), ("i8", 7))
        self.encodes(tensor(5, 64, 7), (numpy.complex64, (7,)))
        self.encodes(tensor(6, 8, 2), numpy.zeros(2, bool))
        with self.assertRaisesRegex(TypeError, "native numbers"):
            _described.encode(("U3", (2,)))
        with self.assertRaisesRegex(TypeError, "native numbers"):
            _described.encode((">f4", (2,)))

    @unittest.skipIf(torch is None, "no PyTorch")
    def test_tensors_of_pytorch(self):
        self.encodes(tensor(4, 16, 2, 3), torch.zeros((2, 3), dtype=torch.bfloat16))
        self.encodes(tensor(6, 8, 3), (torch.bool, 3))


class Sources(unittest.TestCase):
    """Bytes and format of what `send` takes."""

    def takes(self, data, expected, text):
        source = _source.of(data)
        room = bytearray(source.nbytes)
        source.copy(memoryview(room))
        self.assertEqual(expected, bytes(room))
        described = source.format()
        self.assertEqual(text, None if described is None else str(described))

    def test_buffers(self):
        for plain in (b"abc", bytearray(b"abc"), memoryview(b"abc"), memoryview(bytearray(b"abc")), array.array("B", b"abc")):
            self.takes(plain, b"abc", None)
        self.takes(memoryview(b"abcdef")[::2], b"ace", None)
        self.takes(memoryview(b"abcdef")[::-1], b"fedcba", None)
        self.takes(memoryview(b"abcdef").cast("B", (2, 3)), b"abcdef", "uint8[2x3]")
        self.takes(array.array("d", [1.5, 2.5]), struct.pack("2d", 1.5, 2.5), "float64[2]")
        self.takes((ctypes.c_int16 * 3)(1, 2, 3), struct.pack("3h", 1, 2, 3), "int16[3]")
        with mmap.mmap(-1, 4096) as memory:
            self.takes(memory, bytes(4096), None)
        self.assertEqual(0, _source.of(b"").nbytes)

    def test_what_is_no_source(self):
        for wrong in (object(), "text", 5, None, [1, 2]):
            with self.assertRaisesRegex(TypeError, "expected a buffer, an array or a tensor"):
                _source.of(wrong)

    @unittest.skipIf(numpy is None, "no NumPy")
    def test_arrays(self):
        whole = numpy.arange(24, dtype="f4").reshape(4, 6)
        locked = whole.copy()
        locked.setflags(write=False)
        for each in (whole, locked, whole[::2], whole[:, ::-1], whole.T, numpy.asfortranarray(whole), whole[1:3, 2:5],
                     numpy.broadcast_to(whole[0], (3, 6)), whole.astype("c8")):
            self.takes(each, each.tobytes(), f"{each.dtype}[{'x'.join(map(str, each.shape))}]")
            if each.dtype != "c8":
                self.takes(memoryview(each), each.tobytes(), f"{each.dtype}[{'x'.join(map(str, each.shape))}]")
        self.takes(numpy.float64(1.5), struct.pack("d", 1.5), "float64[]")
        self.takes(numpy.arange(5, dtype="u1"), bytes(range(5)), None)
        self.takes(numpy.arange(5, dtype="u1")[::-1], bytes(range(5))[::-1], None)
        # No format has their types.
        self.takes(numpy.array([1, 2], ">i2"), b"\0\1\0\2", None)
        self.takes(numpy.zeros(2, [("a", "u1"), ("b", "u2")]), bytes(6), None)
        self.assertEqual(0, _source.of(numpy.zeros((0, 3))).nbytes)
        self.assertEqual(0, _source.of(memoryview(numpy.zeros((0, 3)))).nbytes)
        with self.assertRaisesRegex(TypeError, "expected numbers"):
            _source.of(numpy.array([object()]))

    @unittest.skipIf(torch is None, "no PyTorch")
    def test_tensors(self):
        whole = torch.arange(24, dtype=torch.float32).reshape(4, 6)
        for each in (whole, whole.T, whole[::2], whole[:, 1::2], whole[1:3, 2:5], whole.expand(2, 4, 6), whole.to(torch.int64),
                     whole.to(torch.float16), whole > 3, torch.tensor(7), whole.clone().requires_grad_()):
            expected = each.detach().contiguous().numpy()
            self.takes(each, expected.tobytes(), f"{expected.dtype}[{'x'.join(map(str, expected.shape))}]")
        for each in (whole.to(torch.bfloat16), whole.to(torch.bfloat16).T):
            self.takes(each, each.contiguous().view(torch.int16).numpy().tobytes(), f"bfloat16[{each.shape[0]}x{each.shape[1]}]")
        self.takes(torch.arange(5, dtype=torch.uint8), bytes(range(5)), None)
        self.assertEqual(0, _source.of(torch.zeros(0, 3)).nbytes)

    @unittest.skipIf(torch is None, "no PyTorch")
    def test_nothing_of_a_tensor_is_kept(self):
        data = torch.zeros(1000)
        before = sys.getrefcount(data)
        gone = weakref.ref(data)
        for each in (data, data[::2]):
            source = _source.of(each)
            source.copy(memoryview(bytearray(source.nbytes)))
            del source, each
        self.assertEqual(before, sys.getrefcount(data))
        del data
        self.assertIsNone(gone())

    def test_devices(self):
        class OnDevice:
            def __dlpack_device__(self):
                return (2, 0)

            def __dlpack__(self):
                raise AssertionError

        with self.assertRaisesRegex(TypeError, "in host memory, got one on a device of kind 2; copy it"):
            _source.of(OnDevice())


class Refusals(unittest.TestCase):
    def test_no_server(self):
        with self.assertRaisesRegex(framecast.NoServer, "start `framecast serve --publish URI`"):
            framecast.publish("framecast:udp?group=224.20.30.39:1|channel=absent", timeout=0)

    def test_a_wrong_key(self):
        with self.assertRaisesRegex(framecast.UriError, "nearest is group"):
            framecast.publish("framecast:udp?gruop=224.20.30.39:1", timeout=0)


@unittest.skipIf(TOOL is None, "FRAMECAST_TOOL is not set")
class Streams(unittest.TestCase):
    """One server for all, since a virtual machine takes a second to start."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="framecast-py-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        os.environ["XDG_RUNTIME_DIR"] = cls.directory
        cls.uri = f"framecast:udp?group=224.20.30.78:{PORT}|channel=py|interface=127.0.0.1"
        cls.log = open(Path(cls.directory) / "log", "w+")
        cls.server = subprocess.Popen([TOOL, "serve", "--publish", cls.uri], stdout=cls.log, stderr=cls.log)
        cls.addClassCleanup(cls.server.wait)
        cls.addClassCleanup(cls.server.kill)

    def subscribed(self, work):
        """Runs work on a subscriber of this process, on a thread; gives a list that it fills, and the thread."""
        results = []

        def run():
            with framecast.subscribe(self.uri, leader_wait=60) as stream:
                for frame in stream:
                    results.append(work(frame))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return results, thread

    def test_a_java_subscriber_sees_format_and_bytes(self):
        command = [TOOL, "subscribe", self.uri, "--device", "host", "--json", "-"]
        receiver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(receiver.kill)
        total = 0
        with framecast.publish(self.uri, format=tensor(2, 32, 20, 30), timeout=60) as out:
            for number in range(100):
                payload = number.to_bytes(4, "little") * 600
                total += len(payload)
                out.send(payload, keyframe=True, metadata=b"m%d" % number)
        self.assertTrue(out.ended)
        result = json.loads(receiver.communicate(timeout=60)[0])
        found = result["subscribers"][0]
        self.assertEqual((100, total), (found["frames"], found["bytes"]))
        self.assertEqual(crc32c(b"".join(n.to_bytes(4, "little") * 600 for n in range(100))), found["stream_crc32c"])
        self.assertIn("20", json.dumps(result.get("format", found.get("format"))))

    @unittest.skipIf(numpy is None, "no NumPy")
    def test_arrays_of_any_layout(self):
        whole = numpy.arange(4000, dtype="f4").reshape(40, 100)
        sources = [whole, whole[::2], whole.T, numpy.asfortranarray(whole), whole.astype("f2"), whole.astype("c8"),
                   bytearray(b"abc"), memoryview(whole), memoryview(whole)[::3], numpy.float64(1.5)]
        if torch is not None:
            sources += [torch.arange(12).reshape(3, 4), torch.arange(12).reshape(3, 4).T]
        expected = [numpy.ascontiguousarray(s).tobytes() if not isinstance(s, (bytearray, memoryview)) else bytes(memoryview(s).tobytes())
                    for s in sources]
        frames, thread = self.subscribed(bytes)
        with framecast.publish(self.uri, format=whole, timeout=60) as out:
            for source in sources:
                out.send(source)
        thread.join(60)
        self.assertEqual(expected, frames)

    @unittest.skipIf(numpy is None, "no NumPy")
    def test_arrays_describe_themselves(self):
        frames, thread = self.subscribed(lambda f: (bytes(f), str(f.format) if f.format else "", f.format))
        small = numpy.arange(6, dtype="i4").reshape(2, 3)
        with framecast.publish(self.uri, timeout=60) as out:
            self.assertIsNone(out.format)
            out.send(b"plain")
            out.send(small)
            out.send(small + 1)
            out.send(small.T)
            out.send(b"plain again")
            out.send(small)
            with out.claim(3) as room:
                room.view[:] = b"own"
            with self.assertRaisesRegex(ValueError, "at least a byte"):
                out.send(numpy.zeros((0, 3)))
            # What the user says counts.
            out.format = "2x1xrgb24,camera=left"
            self.assertEqual("left", out.format.keys["camera"])
            out.send(small)
            out.describe("rate=30", timeout=10)
            out.send(b"x")
            with self.assertRaisesRegex(ValueError, "pixel format"):
                out.format = "2x1xrgb25"
            out.format = None
            out.send(b"y")
            out.send(small)
        thread.join(60)
        texts = [text for _, text, _ in frames]
        self.assertEqual(
            ["", "int32[2x3]", "int32[2x3]", "int32[3x2]", "", "int32[2x3]", "", "2x1xrgb24, uint8[1x2x3], camera=left", "30/s",
             "", "int32[2x3]"], texts)
        self.assertEqual([small.tobytes(), (small + 1).tobytes(), small.T.tobytes()], [bytes_ for bytes_, _, _ in frames[1:4]])
        self.assertIs(frames[1][2], frames[2][2])
        self.assertIs(frames[1][2], frames[5][2])

    def test_a_frame_is_published_as_it_is(self):
        frames, thread = self.subscribed(lambda f: (bytes(f), f))
        with framecast.publish(self.uri, format="4x2xgray,rate=30", timeout=60) as out:
            out.send(b"01234567")
        thread.join(60)
        again, thread = self.subscribed(lambda f: (bytes(f), f.format))
        with framecast.publish(self.uri, timeout=60) as out:
            out.send(frames[0][1])
        thread.join(60)
        self.assertEqual([(b"01234567", frames[0][1].format)], again)
        self.assertEqual("4x2xgray, uint8[2x4], 30/s", str(again[0][1]))

    @unittest.skipIf(numpy is None, "no NumPy")
    def test_a_claim_is_written_in_place(self):
        frames, thread = self.subscribed(lambda f: (bytes(f), f.metadata, f.timestamp_ns, f.keyframe))
        with framecast.publish(self.uri, frame_max=5000, timeout=60) as out:
            self.assertEqual(5000, out.frame_max)
            with out.claim(4000, keyframe=True, metadata=b"m", timestamp_ns=42) as room:
                room.numpy("u4", (10, 100))[...] = 7
            kept = room
            with self.assertRaisesRegex(ValueError, "committed or aborted"):
                kept.view
            room = out.claim(4000)
            view = room.view
            array = room.numpy()
            array[:3] = 1, 2, 3
            room.commit(3)
            view2 = out.claim(10)
            refused = []

            def claims():
                try:
                    out.claim(1)
                except framecast.FramecastError as e:
                    refused.append(str(e))

            other = threading.Thread(target=claims)
            other.start()
            other.join()
            self.assertIn("a frame is claimed", "".join(refused))
            # The same thread gives back the one that it had.
            newer = out.claim(1)
            with self.assertRaisesRegex(ValueError, "has claimed again"):
                view2.view
            view2.abort()
            newer.view[0] = 1
            newer.abort()
            newer.abort()
            with self.assertRaisesRegex(ValueError, "has claimed again"):
                with out.claim(10):
                    out.claim(1).abort()
            with self.assertRaisesRegex(framecast.FramecastError, "the last 16 claims were neither committed nor aborted"):
                for _ in range(17):
                    out.claim(10)
            with self.assertRaises(RuntimeError):
                with out.claim(10):
                    raise RuntimeError
            out.send(b"last")
            with self.assertRaisesRegex(framecast.TooLong, "longer than the 5000 of py; raise frame-max="):
                out.send(bytes(5001))
            with self.assertRaisesRegex(framecast.TooLong, "1024 bytes of metadata"):
                out.send(b"x", metadata=bytes(1025))
            with self.assertRaises(TypeError):
                out.send(object())
        thread.join(60)
        self.assertEqual((b"\7\0\0\0" * 1000, b"m", 42, True), frames[0])
        self.assertEqual([b"\1\2\3", b"last"], [f[0] for f in frames[1:]])
        # Its memory stays as long as an array over it.
        del out, room, view, view2
        gc.collect()
        self.assertEqual(4000, array.nbytes)
        array[-1] = 1

    def test_many_frames_leave_nothing_behind(self):
        crc = 0
        got = []

        def take(frame):
            got[:] = [zlib.crc32(frame.view(), got[0] if got else 0)]

        _, thread = self.subscribed(take)
        with framecast.publish(self.uri, frame_max=3000, timeout=60) as out:
            for number in range(FRAMES):
                payload = number.to_bytes(4, "little") * (1 + number % 700)
                crc = zlib.crc32(payload, crc)
                out.send(payload)
                if number == FRAMES // 10:
                    gc.collect()
                    before = resident_kib(), descriptors()
            gc.collect()
            after = resident_kib(), descriptors()
        thread.join(60)
        self.assertEqual(crc, got[0])
        self.assertLess(after[0] - before[0], 2000 + FRAMES // 10)
        self.assertEqual(before[1], after[1])

    def test_many_publishers_leave_nothing_behind(self):
        def one():
            with framecast.publish(self.uri, frame_max=100, wait_subscribers=0, timeout=60) as out:
                out.send(b"unheard")

        one()
        before = descriptors()
        for _ in range(5):
            one()
        gc.collect()
        self.assertEqual(before, descriptors())

    def test_an_exception_abandons_the_stream(self):
        lost = []

        def run():
            try:
                with framecast.subscribe(self.uri, leader_wait=60) as stream:
                    for _ in stream:
                        pass
            except framecast.SourceLost as e:
                lost.append(str(e))

        thread = threading.Thread(target=run, daemon=True)
        with self.assertRaises(RuntimeError):
            with framecast.publish(self.uri, wait_subscribers=0, timeout=60) as out:
                # Not before: it would follow the stream of the test before.
                thread.start()
                out.wait_ready(1, timeout=60)
                out.send(b"a")
                time.sleep(0.5)
                raise RuntimeError
        thread.join(60)
        self.assertEqual(1, len(lost))
        with self.assertRaisesRegex(ValueError, "closed"):
            out.send(b"b")

    def test_a_second_publisher_is_refused(self):
        with framecast.publish(self.uri, wait_subscribers=0, timeout=60):
            with self.assertRaisesRegex(framecast.Busy, "another client publishes on py"):
                framecast.publish(self.uri, wait_subscribers=0, timeout=0.2)

    def test_no_subscriber_comes(self):
        with self.assertRaisesRegex(TimeoutError, "fewer than 1 subscribers came within 3"):
            framecast.publish(self.uri, timeout=3)

    def test_a_signal_is_handled_while_it_waits(self):
        seen = []
        before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        out = framecast.publish(self.uri, wait_subscribers=0, timeout=60)
        self.addCleanup(out.abandon)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with self.assertRaises(TimeoutError):
            out.wait_ready(1, timeout=1)
        self.assertEqual([1], seen)


def crc32c(data):
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return f"{crc ^ 0xFFFFFFFF:08x}"


if __name__ == "__main__":
    unittest.main()
