package io.framecast.gpu.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import jcuda.driver.CUresult;

/// Downcalls into libcuda for memory of several processes, and for the attributes of devices that this needs. A
/// driver may lack them. They answer a CUresult.
final class CudaIpc {
    static final int HANDLE_BYTES = 64;
    private static final int UUID_BYTES = 16;
    private static final int LAZY_PEER_ACCESS = 1;
    private static final MemoryLayout HANDLE =
            MemoryLayout.structLayout(MemoryLayout.sequenceLayout(HANDLE_BYTES, JAVA_BYTE));

    private static final Optional<MethodHandle> GET = CudaCalls.optional("cuIpcGetMemHandle", ADDRESS, JAVA_LONG);
    private static final Optional<MethodHandle> OPEN =
            CudaCalls.optional("cuIpcOpenMemHandle_v2", ADDRESS, HANDLE, JAVA_INT);
    private static final Optional<MethodHandle> CLOSE = CudaCalls.optional("cuIpcCloseMemHandle", JAVA_LONG);
    // The second names a part of a GPU (MIG) by a UUID of its own.
    private static final Optional<MethodHandle> DEVICE_UUID = Stream.of("cuDeviceGetUuid_v2", "cuDeviceGetUuid")
            .flatMap(name -> CudaCalls.optional(name, ADDRESS, JAVA_INT).stream())
            .findFirst();
    private static final Optional<MethodHandle> CAN_ACCESS_PEER =
            CudaCalls.optional("cuDeviceCanAccessPeer", ADDRESS, JAVA_INT, JAVA_INT);
    private static final Optional<MethodHandle> DEVICE_GET = CudaCalls.optional("cuDeviceGet", ADDRESS, JAVA_INT);

    private CudaIpc() {}

    static boolean isPresent() {
        return GET.isPresent()
                && OPEN.isPresent()
                && CLOSE.isPresent()
                && DEVICE_UUID.isPresent()
                && CAN_ACCESS_PEER.isPresent()
                && DEVICE_GET.isPresent();
    }

    /// @param out [#HANDLE_BYTES] long
    /// @param address of a whole allocation
    static int getMemHandle(final MemorySegment out, final long address) {
        return CudaCalls.callCold(GET.orElseThrow(), out, address);
    }

    /// Maps memory into the current context; where its device is another, enables access to that as a peer.
    ///
    /// @param out one pointer, receives the address
    static int openMemHandle(final MemorySegment out, final MemorySegment handle) {
        return CudaCalls.callCold(OPEN.orElseThrow(), out, handle, LAZY_PEER_ACCESS);
    }

    static int closeMemHandle(final long address) {
        return CudaCalls.callCold(CLOSE.orElseThrow(), address);
    }

    /// @param scratch 16 bytes
    /// @throws io.framecast.api.error.DeviceException when the driver does not answer
    static UUID uuid(final int ordinal, final MemorySegment scratch) {
        final int device = device(ordinal, scratch);
        CudaErrors.check("cuDeviceGetUuid", CudaCalls.callCold(DEVICE_UUID.orElseThrow(), scratch, device));
        final ByteBuffer bytes = scratch.asSlice(0, UUID_BYTES).asByteBuffer();
        return new UUID(bytes.getLong(), bytes.getLong());
    }

    private static int device(final int ordinal, final MemorySegment scratch) {
        CudaErrors.check("cuDeviceGet", CudaCalls.callCold(DEVICE_GET.orElseThrow(), scratch, ordinal));
        return scratch.get(JAVA_INT, 0);
    }

    /// @param scratch 16 bytes
    static boolean canAccessPeer(final int ordinal, final int peer, final MemorySegment scratch) {
        final int own = device(ordinal, scratch);
        final int other = device(peer, scratch);
        final int code = CudaCalls.callCold(CAN_ACCESS_PEER.orElseThrow(), scratch, own, other);
        return code == CUresult.CUDA_SUCCESS && scratch.get(JAVA_INT, 0) != 0;
    }
}
