"""Frames in device memory, on a driver without a GPU: clients/c/build/test/cuda, in LD_LIBRARY_PATH."""

import ctypes
import gc
import time
import unittest

import support

import framecast

try:
    driver = ctypes.CDLL("libcuda.so.1")
    driver.framecast_stub_live.restype = ctypes.c_long
except (OSError, AttributeError):
    driver = None

DEVICE = (2, 0)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


def pointer_of(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


@unittest.skipIf(driver is None, "no stub of libcuda.so.1 in LD_LIBRARY_PATH")
class CudaTest(support.StreamTest):
    """This program uses the device too, by calls of its own."""

    def setUp(self):
        super().setUp()
        self.context = ctypes.c_void_p()
        self.stream = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        self.addCleanup(self.call, "cuDevicePrimaryCtxRelease_v2", 0)
        self.call("cuCtxPushCurrent_v2", self.context)
        self.call("cuStreamCreate", ctypes.byref(self.stream), 1)

    def call(self, name, *arguments):
        self.assertEqual(getattr(driver, name)(*arguments), 0, name)

    def read(self, address, count, stream=None):
        stream = self.stream if stream is None else ctypes.c_void_p(stream)
        to = ctypes.create_string_buffer(count)
        self.call("cuMemcpyDtoHAsync_v2", to, ctypes.c_uint64(address), ctypes.c_size_t(count), stream)
        self.call("cuStreamSynchronize", stream)
        return to.raw

    def held_is(self, stream, count):
        end = time.monotonic() + 5
        while stream.stats().held != count and time.monotonic() < end:
            time.sleep(0.001)
        self.assertEqual(stream.stats().held, count)

    def test_frames_are_on_the_device_and_on_the_host(self):
        self.publish(20)
        with framecast.subscribe(support.URI, device="cuda:0") as stream:
            self.assertEqual(stream.device, "cuda:0")
            for frame in stream:
                self.assertEqual(frame.__dlpack_device__(), DEVICE)
                self.assertFalse(frame.shared_on_device)
                self.assertEqual(self.read(frame.device_pointer(self.stream.value), frame.nbytes), bytes(frame))
                frame.release(self.stream.value)
                self.assertTrue(frame.released)
            self.held_is(stream, 0)
        self.assertEqual(driver.framecast_stub_live(b"registered"), 0)

    def test_the_uri_names_the_device(self):
        first = self.publish(1)
        with framecast.subscribe(support.URI + "|device=cuda:0") as stream:
            self.assertEqual(stream.device, "cuda:0")
        first.wait(10)
        self.publish(1)
        with framecast.subscribe(support.URI + "|device=cuda:0", device="host") as stream:
            self.assertEqual(stream.device, "host")
            self.assertEqual(stream.next().__dlpack_device__(), (1, 0))

    def test_a_tensor_holds_the_frame_until_the_stream_has_read_it(self):
        self.publish(1)
        with framecast.subscribe(support.URI, device="cuda") as stream:
            frame = stream.next()
            capsule = frame.__dlpack__(stream=self.stream.value, max_version=(1, 1))
            found = Versioned.from_address(pointer_of(capsule, b"dltensor_versioned"))
            self.assertEqual((found.major, found.flags), (1, 0))
            tensor = found.tensor
            self.assertEqual((tensor.device_type, tensor.device_id), DEVICE)
            self.assertEqual((tensor.dimensions, tensor.shape[0], tensor.code, tensor.bits), (1, 4096, 1, 8))
            self.assertEqual(self.read(tensor.data, 4096), bytes(frame))
            frame.release()
            self.assertEqual(stream.stats().held, 1)
            memory = ctypes.c_uint64()
            self.call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(64))
            for _ in range(300):
                self.call("cuMemsetD8Async", memory, ctypes.c_ubyte(1), ctypes.c_size_t(64), self.stream)
            del capsule, frame
            gc.collect()
            # The library looks once a millisecond, and the stub does a command for each look.
            self.assertEqual(stream.stats().held, 1)
            self.held_is(stream, 0)
            self.call("cuMemFree_v2", memory)

    def test_streams_as_libraries_give_them(self):
        self.publish(1)
        with framecast.subscribe(support.URI, device="cuda:0") as stream:
            frame = stream.next()
            # Without one: the legacy default stream. −1: this thread has waited.
            for given, used in ((None, 1), (1, 1), (2, 2), (-1, 1), (self.stream.value, self.stream.value)):
                capsule = frame.__dlpack__(stream=given)
                tensor = Tensor.from_address(pointer_of(capsule, b"dltensor"))
                self.assertEqual((tensor.device_type, tensor.device_id), DEVICE)
                self.assertEqual(self.read(tensor.data, frame.nbytes, used), bytes(frame))
            with self.assertRaisesRegex(BufferError, "stream 0 is ambiguous"):
                frame.__dlpack__(stream=0)
            with self.assertRaisesRegex(BufferError, r"lies on device \(2, 0\), not on \(2, 1\)"):
                frame.__dlpack__(dl_device=(2, 1))
            with self.assertRaisesRegex(ValueError, "or no such stream"):
                frame.__dlpack__(stream=4711)

    def test_a_tensor_on_the_host(self):
        self.publish(1)
        with framecast.subscribe(support.URI, device="cuda:0") as stream:
            frame = stream.next()
            capsule = frame.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
            found = Versioned.from_address(pointer_of(capsule, b"dltensor_versioned"))
            self.assertEqual((found.tensor.device_type, found.flags), (1, 1))
            self.assertEqual(ctypes.string_at(found.tensor.data, frame.nbytes), bytes(frame))

    def test_no_such_device(self):
        with self.assertRaisesRegex(framecast.DeviceError, "cuda:3: this process sees 1 GPUs"):
            framecast.subscribe(support.URI, device="cuda:3")
        with self.assertRaisesRegex(framecast.Unsupported, "expected 'host' or 'cuda:0', got 'gpu'"):
            framecast.subscribe(support.URI, device="gpu")


if __name__ == "__main__":
    unittest.main()
