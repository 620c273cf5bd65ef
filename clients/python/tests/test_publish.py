"""Publishers, by the real tool: FRAMECAST_TOOL is its path."""

import gc
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import zlib
from pathlib import Path

from test_frames import FRAMES, descriptors, resident_kib

import framecast
from framecast import _tensor_format

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


class Formats(unittest.TestCase):
    """Expected bytes by RFC 8949, appendix A."""

    def test_a_tensor(self):
        expected = bytes.fromhex("a2 6176 01 6674656e736f72 a2 6474797065 83 02 1820 01 657368617065 83 03 18e0 190780")
        self.assertEqual(expected, _tensor_format.of_tensor(2, 32, (3, 224, 1920)))

    def test_long_numbers(self):
        self.assertEqual(bytes.fromhex("17"), _tensor_format._head(0, 23))
        self.assertEqual(bytes.fromhex("1818"), _tensor_format._head(0, 24))
        self.assertEqual(bytes.fromhex("1903e8"), _tensor_format._head(0, 1000))
        self.assertEqual(bytes.fromhex("1a000f4240"), _tensor_format._head(0, 1000000))
        self.assertEqual(bytes.fromhex("1b000000e8d4a51000"), _tensor_format._head(0, 1000000000000))

    def test_what_is_no_format(self):
        self.assertEqual(b"\xa0", _tensor_format.encode(b"\xa0"))
        for wrong in (5, "u1", None):
            with self.assertRaisesRegex(TypeError, "format: expected CBOR, an array"):
                _tensor_format.encode(wrong)

    @unittest.skipIf(numpy is None, "no NumPy")
    def test_arrays_and_dtypes(self):
        self.assertEqual(_tensor_format.of_tensor(1, 8, (2, 3)), _tensor_format.encode(numpy.zeros((2, 3), "u1")))
        self.assertEqual(_tensor_format.of_tensor(0, 64, (7,)), _tensor_format.encode(("i8", 7)))
        self.assertEqual(_tensor_format.of_tensor(4, 16, (7,)), _tensor_format.encode(("bfloat16", (7,))))
        with self.assertRaisesRegex(TypeError, "native numbers"):
            _tensor_format.encode(("U3", (2,)))


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
        with framecast.publish(self.uri, format=_tensor_format.of_tensor(2, 32, (20, 30)), timeout=60) as out:
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
            with self.assertRaisesRegex(framecast.FramecastError, "a frame is claimed"):
                out.claim(1)
            view2.abort()
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
