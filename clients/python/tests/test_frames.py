"""Frames, arrays and views over them, and who holds what."""

import asyncio
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock

from support import URI, StreamTest

import framecast
from framecast import _library

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

FRAMES = int(os.environ.get("FRAMECAST_TEST_FRAMES", "10000"))


def resident_kib():
    """Memory of this process's own: pages of the leader's table are counted when they are read first."""
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("RssAnon:")).split()[1])


def descriptors():
    return len(os.listdir("/proc/self/fd"))


class Frames(StreamTest):
    def test_each_frame_comes_once_and_in_order(self):
        self.publish(200, size=10_000)
        with framecast.subscribe(URI) as stream:
            numbers = []
            for frame in stream:
                numbers.append(frame.number)
                self.assertEqual(10_000, len(frame))
                self.assertEqual(bytes([frame.number % 256]) * 10_000, bytes(frame))
                self.assertEqual(b"m%d" % frame.number, frame.metadata)
                self.assertEqual(1000 + frame.number, frame.timestamp_ns)
                self.assertTrue(frame.keyframe)
                self.assertFalse(frame.copied)
                self.assertEqual(0, frame.lost.total)
            self.assertEqual(list(range(200)), numbers)
            self.assertTrue(stream.ended)
            self.assertIsNone(stream.next(0))
            stats = stream.stats()
            self.assertEqual((200, 2_000_000), (stats.frames, stats.bytes))

    def test_a_view_holds_the_frame_and_cannot_be_written(self):
        self.publish(4, window=2)
        with framecast.subscribe(URI) as stream:
            frame = stream.next()
            view = frame.view()
            frame.release()
            with self.assertRaises(ValueError):
                frame.view()
            self.assertEqual(1, stream.stats().held)
            self.assertTrue(view.readonly)
            self.assertEqual(4096, len(view))
            self.assertEqual(0, view[4095])
            with self.assertRaises(TypeError):
                view[0] = 1
            del view
            gc.collect()
            self.assertEqual(0, stream.stats().held)

    @unittest.skipIf(sys.version_info < (3, 12), "memoryview(frame) needs Python 3.12")
    def test_the_buffer_protocol(self):
        self.publish(4, window=2)
        with framecast.subscribe(URI) as stream:
            frame = stream.next()
            view = memoryview(frame)
            frame.release()
            self.assertTrue(view.readonly)
            self.assertEqual(bytes(4096), view)
            self.assertEqual(1, stream.stats().held)
            view.release()
            del view
            gc.collect()
            self.assertEqual(0, stream.stats().held)

    def test_a_with_block_releases(self):
        self.publish(4, window=2)
        with framecast.subscribe(URI) as stream:
            with stream.next() as frame:
                self.assertEqual(1, stream.stats().held)
            self.assertEqual(0, stream.stats().held)
            self.assertTrue(frame.released)

    @unittest.skipIf(numpy is None, "NumPy is not installed: apt install python3-numpy")
    def test_an_array_holds_the_frame_and_is_no_copy(self):
        self.publish(4, window=3)
        with framecast.subscribe(URI) as stream:
            frame = stream.next()
            array = frame.numpy()
            self.assertEqual(numpy.uint8, array.dtype)
            self.assertEqual((4096,), array.shape)
            self.assertEqual(frame._data, array.__array_interface__["data"][0])
            self.assertFalse(array.flags.writeable)
            with self.assertRaises(ValueError):
                array[0] = 1
            picture = frame.numpy("<u2", (4, 512))
            self.assertEqual((4, 512), picture.shape)
            with self.assertRaises(ValueError):
                frame.numpy("f8", (4, 512))
            with self.assertRaises(TypeError):
                frame.numpy(">u2")
            del frame, array
            gc.collect()
            self.assertEqual(1, stream.stats().held)
            del picture
            gc.collect()
            self.assertEqual(0, stream.stats().held)

    @unittest.skipIf(numpy is None, "NumPy is not installed: apt install python3-numpy")
    def test_a_capsule_that_nobody_takes_releases(self):
        self.publish(4, window=3)
        with framecast.subscribe(URI) as stream:
            frame = stream.next()
            capsule = frame.__dlpack__()
            self.assertEqual((1, 0), frame.__dlpack_device__())
            frame.release()
            self.assertEqual(1, stream.stats().held)
            del capsule
            self.assertEqual(0, stream.stats().held)

    @unittest.skipIf(torch is None, "PyTorch is not installed: apt install python3-torch")
    def test_a_torch_tensor_holds_the_frame(self):
        self.publish(4, window=3)
        with framecast.subscribe(URI) as stream:
            stream.next()
            frame = stream.next()
            tensor = torch.from_dlpack(frame)
            self.assertEqual(frame._data, tensor.data_ptr())
            frame.release()
            self.assertEqual(4096, int(tensor.sum()))
            self.assertEqual(1, stream.stats().held)
            del tensor
            gc.collect()
            self.assertEqual(0, stream.stats().held)

    def test_shapes_of_an_array(self):
        if numpy is None:
            self.skipTest("no NumPy")
        self.publish(1)
        with framecast.subscribe(URI) as stream:
            frame = stream.next()
            self.assertEqual(frame.numpy("u2", 100).shape, (100,))
            self.assertEqual(frame.numpy("u1", (2, 3)).shape, (2, 3))
            self.assertEqual(frame.numpy("u4").shape, (1024,))
            with self.assertRaisesRegex(ValueError, "do not fit"):
                frame.numpy("u4", 1025)

    def test_frames_outlive_their_subscriber(self):
        process = self.publish(4, window=4)
        stream = framecast.subscribe(URI)
        frames = [stream.next(), stream.next()]
        stream.close()
        stream.close()
        self.assertEqual(b"\1" * 4096, bytes(frames[1]))
        with self.assertRaises(ValueError):
            stream.next(0)
        # Its connection ends with the last frame.
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.2)
        del frames
        self.assertEqual(0, process.wait(10))

    def test_asyncio(self):
        self.publish(500)

        async def read():
            with framecast.subscribe(URI) as stream:
                return [frame.number async for frame in stream]

        self.assertEqual(list(range(500)), asyncio.run(read()))

    def test_another_thread_closes(self):
        self.publish(1, followers=2)
        with framecast.subscribe(URI) as stream:
            threading.Timer(0.2, stream.close).start()
            with self.assertRaises(ValueError):
                stream.next()

    def test_a_signal_is_handled_while_it_waits(self):
        def on_alarm(*_):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, on_alarm)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with self.assertRaises(KeyboardInterrupt):
            framecast.subscribe(URI, leader_wait=None)
        self.publish(1, followers=2)
        with framecast.subscribe(URI) as stream:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with self.assertRaises(KeyboardInterrupt):
                stream.next()


    def test_another_task_closes(self):
        self.publish(1, followers=2)

        async def read(stream):
            async for _ in stream:
                pass

        async def main():
            stream = framecast.subscribe(URI)
            reader = asyncio.ensure_future(read(stream))
            await asyncio.sleep(0.1)
            stream.close()
            with self.assertRaises(ValueError):
                await asyncio.wait_for(reader, 5)

        asyncio.run(main())

    def test_a_signal_closes_between_a_look_at_the_handle_and_its_use(self):
        """As a handler does that runs there. What is freed then is no subscriber that a call still has."""
        self.publish(1, followers=1000)
        closed = []
        close = _library.close
        calls = {"next_frame": lambda: stream.next(0), "stats_of": lambda: stream.stats(), "fd": lambda: stream.fileno()}
        for name, use in calls.items():

            def closes(*arguments, call=getattr(_library, name)):
                stream.close()
                self.assertEqual([], closed)
                return call(*arguments)

            def recorded(handle):
                closed.append(handle)
                close(handle)

            with unittest.mock.patch.multiple(_library, close=recorded, **{name: closes}):
                stream = framecast.subscribe(URI)
                try:
                    use()
                except ValueError:
                    self.assertEqual(name, "next_frame")
            self.assertEqual(1, len(closed))
            closed.clear()


class Errors(StreamTest):
    def test_a_wrong_key_comes_with_a_hint(self):
        with self.assertRaisesRegex(framecast.UriError, "unknown key gruop; nearest is group"):
            framecast.subscribe("framecast:udp?gruop=224.20.30.39:24326")

    def test_nobody_leads(self):
        begin = time.monotonic()
        with self.assertRaisesRegex(framecast.NoLeader, "no process receives or publishes py on this host.*; it looked in /"):
            framecast.subscribe(URI, leader_wait=0.2)
        self.assertLess(time.monotonic() - begin, 5)

    def test_the_publisher_is_killed(self):
        process = self.publish(1_000_000)
        with framecast.subscribe(URI) as stream:
            stream.next()
            process.kill()
            with self.assertRaisesRegex(framecast.SourceLost, "the source of py is gone"):
                for _ in stream:
                    pass


class Resources(StreamTest):
    def test_many_frames_leave_nothing_behind(self):
        self.publish(FRAMES, size=65536, window=64)
        with framecast.subscribe(URI) as stream:
            held = []
            for frame in stream:
                held.append(frame.view() if numpy is None else frame.numpy())
                if len(held) > 3:
                    held.pop(0)
                if frame.number == FRAMES // 10:
                    memory, files = resident_kib(), descriptors()
            del frame
            self.assertEqual(FRAMES, stream.stats().frames)
            self.assertLess(resident_kib() - memory, 2048)
            self.assertEqual(files, descriptors())
            held.clear()
            gc.collect()
            self.assertEqual(0, stream.stats().held)

    def test_many_subscribers_leave_nothing_behind(self):
        self.publish(1, followers=1000)
        for i in range(100):
            framecast.subscribe(URI).close()
            if i == 10:
                memory, files = resident_kib(), descriptors()
        self.assertLess(resident_kib() - memory, 1024)
        self.assertEqual(files, descriptors())

    def test_a_process_that_is_killed_with_frames_held_harms_nobody(self):
        self.publish(300, window=8, followers=2)
        program = (
            f"import sys; sys.path[:0] = {sys.path[:2]!r}\n"
            f"import framecast, time\n"
            f"stream = framecast.subscribe({URI!r})\n"
            f"held = [stream.next() for _ in range(4)]\n"
            f"print('holds', flush=True)\n"
            f"time.sleep(60)\n"
        )
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as other:
            with framecast.subscribe(URI) as stream:
                first = stream.next()
                self.assertEqual(b"holds\n", other.stdout.readline())
                numbers = [first.number]
                del first
                # The window is full of what the other one holds.
                frame = stream.next(0.3)
                while frame is not None:
                    numbers.append(frame.number)
                    frame = stream.next(0.3)
                self.assertLess(len(numbers), 20)
                other.kill()
                numbers += [frame.number for frame in stream]
                self.assertEqual(list(range(300)), numbers)

    def test_an_interpreter_ends_with_frames_held(self):
        self.publish(8, window=8)
        program = (
            f"import sys; sys.path[:0] = {sys.path[:2]!r}\n"
            f"import framecast\n"
            f"stream = framecast.subscribe({URI!r})\n"
            f"frame = stream.next(); view = stream.next().view(); capsule = stream.next().__dlpack__()\n"
            f"array = stream.next().numpy() if {numpy is not None} else None\n"
            f"cycle = [frame, view, capsule, array]; cycle.append(cycle)\n"
            f"print('ends')\n"
        )
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
        self.assertEqual((0, b"ends\n", b""), (result.returncode, result.stdout, result.stderr))

    def test_an_interpreter_ends_while_a_thread_reads(self):
        self.publish(1, followers=2)
        program = (
            f"import sys; sys.path[:0] = {sys.path[:2]!r}\n"
            f"import atexit, threading, time\n"
            f"atexit.register(time.sleep, 0.5)\n"
            f"import framecast\n"
            f"stream = framecast.subscribe({URI!r})\n"
            f"def read():\n"
            f"    try:\n"
            f"        while True: stream.next(0.001)\n"
            f"    except ValueError as e: print(e)\n"
            f"threading.Thread(target=read, daemon=True).start()\n"
            f"time.sleep(0.2)\n"
        )
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
        expected = (0, b"framecast: the subscriber is closed\n", b"")
        self.assertEqual(expected, (result.returncode, result.stdout, result.stderr))

    def test_a_frame_that_another_thread_releases_stays_for_a_call(self):
        self.publish(8, window=8)
        with framecast.subscribe(URI) as stream:
            held = []
            for name, use in (("release_on", lambda f: f.release(7)), ("export", lambda f: f.__dlpack__()),
                              ("frame_device", lambda f: f.device_pointer()), ("tensor", lambda f: f._tensor(1, 8, (1,)))):
                frame = stream.next()

                def releases(*arguments, call=getattr(_library, name), frame=frame):
                    frame.release()
                    held.append(stream.stats().held)
                    return call(*arguments)

                with unittest.mock.patch.object(_library, name, releases):
                    try:
                        use(frame)
                    except framecast.FramecastError:
                        self.assertEqual(name, "frame_device")
                self.assertEqual(0, stream.stats().held)
            self.assertEqual([1, 1, 1, 1], held)

    def test_the_child_of_a_fork_releases_nothing(self):
        self.publish(100, window=4)
        with framecast.subscribe(URI) as stream:
            frame = stream.next()
            child = multiprocessing.get_context("fork").Process(target=gc.collect)
            child.start()
            child.join()
            self.assertEqual(0, child.exitcode)
            self.assertEqual(b"\0" * 4096, bytes(frame))
            del frame
            self.assertEqual(list(range(1, 100)), [frame.number for frame in stream])


if __name__ == "__main__":
    unittest.main(verbosity=2)
