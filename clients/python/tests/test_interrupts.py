"""KeyboardInterrupt at random moments: nothing else is raised, and every claim, frame, publisher and subscriber comes back.

FRAMECAST_TEST_INTERRUPTS (300) interrupts; publishers need the real tool, FRAMECAST_TOOL.
"""

import gc
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support import URI, StreamTest

import framecast

try:
    import numpy
except ImportError:
    numpy = None

INTERRUPTS = int(os.environ.get("FRAMECAST_TEST_INTERRUPTS", "300"))
SEED = int(os.environ.get("FRAMECAST_TEST_SEED", "0")) or random.randrange(1, 2**31)
TOOL = os.environ.get("FRAMECAST_TOOL")
PORT = int(os.environ.get("FRAMECAST_TEST_PORT", "26200"))
LONGEST_S = 0.004


class Interrupted(unittest.TestCase):
    """Interrupts what a test does, and looks that no finalizer swallows one."""

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.swallowed = []
        self.addCleanup(setattr, sys, "unraisablehook", sys.unraisablehook)
        sys.unraisablehook = lambda found: self.swallowed.append(f"{found.exc_value!r} in {found.object!r}")
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, signal.default_int_handler))

    def interrupted(self, work, after=lambda: None):
        """Repeats work until an interrupt comes; `after` runs while its traceback is there."""
        try:
            signal.setitimer(signal.ITIMER_REAL, self.random.uniform(1e-6, LONGEST_S))
            while True:
                work()
        except KeyboardInterrupt:
            after()

    def tearDown(self):
        gc.collect()
        self.assertEqual([], self.swallowed, f"FRAMECAST_TEST_SEED={SEED}")
        super().tearDown()


@unittest.skipIf(TOOL is None, "FRAMECAST_TOOL is not set")
class Publishers(Interrupted):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="framecast-py-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        os.environ["XDG_RUNTIME_DIR"] = cls.directory
        cls.uri = f"framecast:udp?group=224.20.30.78:{PORT}|channel=py|interface=127.0.0.1"
        cls.log = open(Path(cls.directory) / "log", "w+")
        cls.addClassCleanup(cls.log.close)
        cls.server = subprocess.Popen([TOOL, "serve", "--publish", cls.uri], stdout=cls.log, stderr=cls.log)
        cls.addClassCleanup(cls.server.wait)
        cls.addClassCleanup(cls.server.kill)

    def open(self):
        return framecast.publish(self.uri, frame_max=3000, wait_subscribers=0, timeout=60)

    def ways(self, out):
        payload = bytes(100)
        arrays = [] if numpy is None else [numpy.zeros((2, 3), "i4"), numpy.zeros((3, 2), "u2")]

        def with_block():
            with out.claim(100, timeout=60) as room:
                room.view[:] = payload

        def commits():
            room = out.claim(100, timeout=60)
            room.view[:] = payload
            room.commit()

        def aborts():
            out.claim(100, timeout=60).abort()

        def keeps_and_aborts():
            room = out.claim(100, timeout=60)
            room.view[0] = 1
            room.abort()

        def sends():
            out.send(payload, timeout=60)
            for array in arrays:
                out.send(array, timeout=60)

        return (with_block, commits, aborts, keeps_and_aborts, sends)

    def test_every_claim_comes_back(self):
        with self.open() as out:
            ways = self.ways(out)
            again = lambda: out.claim(64, timeout=60).abort()
            for number in range(INTERRUPTS):
                # At once, while the traceback holds what the interrupted calls had; or behind it.
                self.interrupted(ways[number % len(ways)], again if number % 2 == 0 else lambda: None)
                again()
            out.send(b"last", timeout=60)
        self.assertTrue(out.ended)
        print(f"{INTERRUPTS} interrupts of a publisher: every claim came back (FRAMECAST_TEST_SEED={SEED})", file=sys.stderr)

    def test_frames_are_described_as_they_are(self):
        if numpy is None:
            self.skipTest("no NumPy")
        arrays = [numpy.zeros((number + 1, 3), "i4") for number in range(4)]
        with self.open() as out:
            said = []
            for _ in range(INTERRUPTS // 10):
                self.interrupted(lambda: [out.send(array, timeout=60) for array in arrays])
                out.send(arrays[0], timeout=60)
                said.append(out._said)
            self.assertEqual(1, len(set(said)))
            self.assertIsNotNone(said[0])

    def test_a_publisher_that_is_interrupted_while_it_opens_is_closed(self):
        self.open().abandon()
        for _ in range(max(10, INTERRUPTS // 100)):

            def opens():
                self.open().abandon()

            # Its server has one client at a time: one that is left would keep the next out for ever.
            self.interrupted(opens, opens if self.random.random() < 0.5 else lambda: None)
        self.open().abandon()


class Subscribers(Interrupted, StreamTest):
    def test_every_frame_comes_back(self):
        self.publish(100_000_000, size=4096, window=8)
        numbers = []

        def reads():
            frame = stream.next(timeout=60)
            numbers.append(frame.number)
            if numpy is not None:
                frame.numpy()
            frame.view()
            bytes(frame)
            if frame.number % 2 == 0:
                frame.release()

        with framecast.subscribe(URI) as stream:
            for _ in range(INTERRUPTS):
                self.interrupted(reads)
                # What the interrupted call had is in no local variable any more.
                self.assertLessEqual(stream.stats().held, 1)
            while stream.stats().held > 0:
                reads()
                gc.collect()
            missed = sum(after - before - 1 for before, after in zip(numbers, numbers[1:]))
            self.assertEqual(numbers, sorted(set(numbers)))
        print(f"{INTERRUPTS} interrupts of a subscriber: {len(numbers)} frames, {missed} missed (FRAMECAST_TEST_SEED={SEED})",
              file=sys.stderr)
        # Between the return of a call and the assignment of what it gave only old interpreters look for signals.
        if sys.version_info >= (3, 11):
            self.assertEqual(0, missed)

    def test_a_subscriber_that_is_interrupted_while_it_opens_is_closed(self):
        self.publish(1, followers=1_000_000)
        # One thread of the library belongs to each that is open.
        before = len(os.listdir("/proc/self/task"))
        for _ in range(max(10, INTERRUPTS // 20)):
            self.interrupted(lambda: framecast.subscribe(URI).close())
        gc.collect()
        end = time.monotonic() + 60
        while len(os.listdir("/proc/self/task")) > before and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(before, len(os.listdir("/proc/self/task")))


if __name__ == "__main__":
    unittest.main()
