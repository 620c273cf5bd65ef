"""Frames in a GPU's memory, read by PyTorch, CuPy and NumPy on a machine that has one. It is no test of CI.

    python3 gpu.py --tool "./framecast" [--device cuda:0] [--seconds 4] [--key FILE]

`--tool` is the command that runs `framecast`. With a key file frames are encrypted on their way. Prints a line for each check, and ends with 1 where one failed.
"""

import argparse
import multiprocessing
import os
import shlex
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import framecast  # noqa: E402

WIDTH, HEIGHT = 640, 480
BYTES = WIDTH * HEIGHT * 3


class Streams:
    """Channels and processes of one run."""

    def __init__(self, tool, device, key):
        self.tool = shlex.split(tool)
        self.security = f"|auth=psk:{key}|cipher=auto" if key else ""
        self.device = device
        self.port = 26100
        self.processes = []

    def channel(self):
        self.port += 8
        return f"framecast:udp?group=224.20.30.79:{self.port}|interface=127.0.0.1|channel=gpu{self.security}"

    def start(self, *arguments):
        process = subprocess.Popen([*self.tool, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.processes.append(process)
        return process

    def publish(self, channel, frames, *more):
        return self.start(
            "publish", channel, "--input", "test", "--video", f"{WIDTH}x{HEIGHT}xrgb24", "--frames", str(frames), *more
        )

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        self.processes.clear()


def drained(stream):
    end = time.monotonic() + 5
    while stream.stats().held and time.monotonic() < end:
        time.sleep(0.001)
    assert stream.stats().held == 0, stream.stats()


def torch_reads_in_place(streams):
    """Each frame's sum on the GPU is that of its bytes on the host."""
    import numpy
    import torch

    channel = streams.channel()
    streams.publish(channel + "|host-group=auto", 400, "--wait-subscribers", "1", "--rate", "0")
    count = 0
    with framecast.subscribe(channel, device=streams.device, leader_wait=60) as stream:
        for frame in stream:
            tensor = torch.from_dlpack(frame)
            assert tensor.is_cuda and tuple(tensor.shape) == (HEIGHT, WIDTH, 3) and tensor.dtype == torch.uint8
            assert int(tensor.sum(dtype=torch.int64)) == int(frame.numpy().sum(dtype=numpy.int64)), frame.number
            count += 1
            del tensor, frame
        drained(stream)
    assert count == 400, count
    return f"{count} frames as {HEIGHT}x{WIDTH}x3 tensors"


def a_busy_stream_holds_the_frame(streams):
    """Work is queued in front of the read, and the tensor is freed at once, while the source writes on."""
    import numpy
    import torch

    channel = streams.channel()
    streams.publish(channel + "|host-group=auto|window=8M", 300, "--wait-subscribers", "1", "--rate", "0")
    other = torch.cuda.Stream()
    weights = torch.randn(2048, 2048, device=streams.device)
    sums, expected = [], []
    most = 0
    with framecast.subscribe(channel, device=streams.device, leader_wait=60) as stream, torch.cuda.stream(other):
        for frame in stream:
            expected.append(int(frame.numpy().sum(dtype=numpy.int64)))
            for _ in range(4):
                weights = (weights @ weights).tanh()
            sums.append(torch.from_dlpack(frame).sum(dtype=torch.int64))
            del frame
            most = max(most, stream.stats().held)
        other.synchronize()
        drained(stream)
    wrong = sum(int(a) != b for a, b in zip(sums, expected))
    assert len(sums) == 300 and wrong == 0, (len(sums), wrong)
    return f"300 frames right, {most} held at most"


def cupy_reads(streams):
    import cupy
    import numpy

    channel = streams.channel()
    streams.publish(channel + "|host-group=auto", 100, "--wait-subscribers", "1", "--rate", "0")
    count = 0
    with framecast.subscribe(channel, device=streams.device, leader_wait=60) as stream:
        for frame in stream:
            array = cupy.from_dlpack(frame)
            assert array.shape == (HEIGHT, WIDTH, 3)
            assert int(array.sum(dtype=cupy.int64)) == int(frame.numpy().sum(dtype=numpy.int64))
            count += 1
            del array, frame
        drained(stream)
    assert count == 100
    return f"{count} frames, CuPy {cupy.__version__}"


def jax_reads(streams):
    import jax
    import numpy

    channel = streams.channel()
    streams.publish(channel + "|host-group=auto", 20, "--wait-subscribers", "1", "--rate", "0")
    count = 0
    with framecast.subscribe(channel, device=streams.device, leader_wait=60) as stream:
        for frame in stream:
            array = jax.dlpack.from_dlpack(frame)
            assert int(array.astype("int32").sum()) == int(frame.numpy().sum(dtype=numpy.int64))
            count += 1
            del array, frame
        drained(stream)
    assert count == 20
    return f"{count} frames, JAX {jax.__version__}"


def numpy_cannot_write(streams):
    import numpy

    channel = streams.channel()
    streams.publish(channel + "|host-group=auto", 2, "--wait-subscribers", "1")
    with framecast.subscribe(channel, device=streams.device, leader_wait=60) as stream:
        frame = stream.next(20)
        array = numpy.from_dlpack(frame, device="cpu")
        assert array.shape == (HEIGHT, WIDTH, 3) and not array.flags.writeable
        assert not frame.numpy().flags.writeable and (frame.numpy() == array).all()
    return f"NumPy {numpy.__version__}"


def follow(uri, device, results):
    """A process of its own: sums of frames on the GPU, and how many came by another process."""
    import torch

    total, count, shared = 0, 0, 0
    begin = None
    with framecast.subscribe(uri, device=device, leader_wait=60) as stream:
        for frame in stream:
            begin = begin or time.monotonic()
            shared += frame.shared_on_device
            total += int(torch.from_dlpack(frame).sum(dtype=torch.int64))
            count += 1
            del frame
        seconds = time.monotonic() - begin
        drained(stream)
    results.put((count, total, shared, count * BYTES / seconds / 1e6))


def one_copy_for_three_processes(streams, placement=""):
    """`serve` copies frames to the GPU once; three processes take them from there."""
    channel = streams.channel()
    server = streams.start("serve", f"{channel}|device={streams.device}")
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [
        context.Process(target=follow, args=(channel + placement, streams.device, results), daemon=True) for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    time.sleep(12)
    streams.publish(channel, 3000, "--wait-subscribers", "1", "--rate", "500")
    found = sorted(results.get(timeout=90) for _ in workers)
    for worker in workers:
        worker.join(20)
    server.terminate()
    lines = server.communicate(timeout=20)[0]
    assert len({(count, total) for count, total, _, _ in found}) == 1 and found[0][0] == 3000, found
    assert all(shared > 1500 for _, _, shared, _ in found), (found, lines)
    return "by another process " + ", ".join(f"{shared} of {count}" for count, _, shared, _ in found)


def read_in_place_by_three_processes(streams):
    return one_copy_for_three_processes(streams, "|placement=shared")


def frames_are_pinned(streams):
    """In the ring, and under `latest` in the program's own memory: then copies need no processor."""
    import ctypes

    import torch

    # CUDA's context is this thread's from here on.
    torch.zeros(1, device=streams.device)
    driver = ctypes.CDLL("libcuda.so.1")
    found = []
    for delivery in ("reliable", "latest"):
        channel = streams.channel()
        streams.publish(channel + "|host-group=auto|window=64M", 60, "--wait-subscribers", "1")
        with framecast.subscribe(f"{channel}|delivery={delivery}", device=streams.device, leader_wait=60) as stream:
            frame = stream.next(20)
            kind = ctypes.c_uint()
            # CU_POINTER_ATTRIBUTE_MEMORY_TYPE: unknown to the driver where it is not pinned.
            answer = driver.cuPointerGetAttribute(ctypes.byref(kind), 2, ctypes.c_uint64(frame._data))
            found.append((delivery, frame.copied, answer))
            frame.release()
    assert [answer for _, _, answer in found] == [0, 0], found
    return str(found)


def goodput(streams, seconds=4.0):
    """Frames of 8 MiB on this host, to the GPU; beside a copy of each from memory that CUDA did not pin."""
    import torch

    figures = []
    for way in ("device", "copy by the program", "device", "copy by the program"):
        channel = streams.channel()
        device = streams.device if way == "device" else "host"
        publisher = streams.start(
            "publish", channel + "|host-group=auto|frame-max=8M|window=128M", "--input", "test", "--frame-bytes", "8388608",
            "--rate", "0", "--frames", "1000000", "--wait-subscribers", "1",
        )
        count = 0
        begin = end = None
        with framecast.subscribe(channel, device=device, leader_wait=60) as stream:
            for frame in stream:
                if way == "device":
                    tensor = torch.from_dlpack(frame)
                else:
                    tensor = torch.frombuffer(frame.view(), dtype=torch.uint8).to(streams.device)
                now = time.monotonic()
                begin = begin or now + 2
                if now >= begin:
                    count += 1
                    if now > begin + seconds:
                        end = now
                        break
                del tensor, frame
            torch.cuda.synchronize()
            tensor = frame = None
        publisher.kill()
        figures.append(f"{way} {count * 8.388608 / (end - begin) / 1000:.2f} GB/s")
    return ", ".join(figures)


CHECKS = [
    torch_reads_in_place,
    a_busy_stream_holds_the_frame,
    cupy_reads,
    jax_reads,
    numpy_cannot_write,
    frames_are_pinned,
    one_copy_for_three_processes,
    read_in_place_by_three_processes,
    goodput,
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--only", default="")
    parser.add_argument("--key", default="")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="framecast-gpu-") as directory:
        os.environ["XDG_RUNTIME_DIR"] = directory
        for check in CHECKS:
            if options.only not in check.__name__:
                continue
            streams = Streams(options.tool, options.device, options.key)
            begin = time.monotonic()
            try:
                print(f"ok      {check.__name__}: {check(streams)} ({time.monotonic() - begin:.1f} s)", flush=True)
            except ImportError as e:
                print(f"skipped {check.__name__}: {e}", flush=True)
            except Exception:
                failed += 1
                print(f"FAILED  {check.__name__}", flush=True)
                traceback.print_exc(file=sys.stdout)
            finally:
                streams.end()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
