package io.framecast.rdma.verbs;

import io.framecast.api.error.NativeException;
import java.lang.foreign.MemorySegment;

/// A set of objects that work together: queue pairs reach only memory regions and address handles of their own
/// domain.
public final class ProtectionDomain extends Handle {
    static final int NO_DESCRIPTOR = -1;
    private static final int PAGE_BYTES = 4096;

    ProtectionDomain(final Context context) {
        super(
                context.library(),
                context.verbs().make("ibv_alloc_pd", context, context.pointer()),
                "ibv_dealloc_pd",
                "protection domain on " + context.name(),
                context);
    }

    /// Registers native memory: pins it and makes it known to the device. Slow (a page costs about 0.1 µs and
    /// more); never on the data path.
    ///
    /// The memory stays the caller's and must outlive the region: the device knows nothing of arenas.
    ///
    /// @param access flags of [Access]
    public MemoryRegion register(final MemorySegment memory, final int access) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("memory region: expected native memory, got a Java array's");
        }
        return register(memory.address(), memory.byteSize(), access);
    }

    /// Registers memory by address: host memory, or device memory where a peer-memory driver knows it
    /// (nvidia-peermem).
    public MemoryRegion register(final long address, final long bytes, final int access) {
        requireBytes(bytes);
        final String what = bytes + " bytes on " + context().name();
        final MemorySegment region = verbs().make("ibv_reg_mr", what, pointer(), address, bytes, access);
        return new MemoryRegion(this, region, bytes, false);
    }

    /// Registers device memory by the descriptor of a dma-buf.
    ///
    /// @param descriptor the dma-buf; the caller may close it afterwards
    /// @param offset of the region in the dma-buf
    /// @param address of its first byte in requests
    /// @throws io.framecast.api.error.NativeException with EOPNOTSUPP where device or kernel cannot;
    ///     peer memory, or staging in the host, may do
    public MemoryRegion registerDmaBuf(
            final int descriptor, final long offset, final long address, final long bytes, final int access) {
        requireBytes(bytes);
        final String what = bytes + " bytes of a dma-buf on " + context().name();
        final MemorySegment region =
                verbs().make("ibv_reg_dmabuf_mr", what, pointer(), offset, bytes, address, descriptor, access);
        return new MemoryRegion(this, region, bytes, true);
    }

    /// Whether device, kernel and library register dma-bufs at all; asked with an invalid descriptor,
    /// whose error shows it.
    public boolean takesDmaBuf() {
        try {
            registerDmaBuf(NO_DESCRIPTOR, 0, 0, PAGE_BYTES, Access.LOCAL_WRITE).close();
            return true;
        } catch (final NativeException e) {
            return !takesNoDmaBuf(e);
        }
    }

    /// Whether a refusal of [#registerDmaBuf] means that no dma-buf at all is registered here.
    public static boolean takesNoDmaBuf(final NativeException refusal) {
        return refusal.errno() == VerbsErrors.EOPNOTSUPP
                || refusal.errno() == VerbsErrors.EPROTONOSUPPORT
                || refusal.errno() == VerbsErrors.ENOSYS;
    }

    private static void requireBytes(final long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("memory region: expected bytes > 0, got " + bytes);
        }
    }

    public QueuePair queuePair(final QueuePairConfig config) {
        return QueuePair.create(this, config, false);
    }

    /// Makes a queue pair that does not receive its own datagrams to its own groups
    /// (IBV_QP_CREATE_BLOCK_SELF_MCAST_LB). A device without the flag makes an ordinary one, and is not asked
    /// again; [QueuePair#blocksLoopback] has the result. No device that takes the flag has been seen. The driver
    /// decides whether it blocks datagrams of this queue pair alone, or of its process or port. So the flag is only
    /// for a lane that needs no datagram from its own device.
    public QueuePair queuePairWithoutLoopback(final QueuePairConfig config) {
        return QueuePair.create(this, config, true);
    }

    public AddressHandle addressHandle(final AddressPath path) {
        return AddressHandle.create(this, path);
    }
}
