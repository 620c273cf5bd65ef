package io.framecast.perf.rivals;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// An array of struct mmsghdr with one iovec each, and room for one control message each.
final class FloorMessages {
    private final MemorySegment messages;
    private final MemorySegment iovecs;
    private final MemorySegment controls;
    private final int count;

    FloorMessages(final Arena arena, final int count) {
        this.count = count;
        messages = arena.allocate((long) count * FloorNative.MMSGHDR_BYTES, Long.BYTES);
        iovecs = arena.allocate((long) count * FloorNative.IOVEC_BYTES, Long.BYTES);
        controls = arena.allocate((long) count * FloorNative.CMSG_BYTES, Long.BYTES);
        for (int i = 0; i < count; i++) {
            final long message = (long) i * FloorNative.MMSGHDR_BYTES;
            final long iovec = iovecs.address() + (long) i * FloorNative.IOVEC_BYTES;
            messages.set(JAVA_LONG, message + FloorNative.MSG_IOV, iovec);
            messages.set(JAVA_LONG, message + FloorNative.MSG_IOVLEN, 1);
        }
    }

    int count() {
        return count;
    }

    long address(final int index) {
        return messages.address() + (long) index * FloorNative.MMSGHDR_BYTES;
    }

    void aim(final int index, final long address, final long bytes) {
        final long iovec = (long) index * FloorNative.IOVEC_BYTES;
        iovecs.set(JAVA_LONG, iovec, address);
        iovecs.set(JAVA_LONG, iovec + FloorNative.IOV_LEN, bytes);
    }

    /// Makes room for a control message, which the kernel's last answer has used up.
    void expectControl(final int index) {
        final long message = (long) index * FloorNative.MMSGHDR_BYTES;
        final long control = controls.address() + (long) index * FloorNative.CMSG_BYTES;
        messages.set(JAVA_LONG, message + FloorNative.MSG_CONTROL, control);
        messages.set(JAVA_LONG, message + FloorNative.MSG_CONTROLLEN, FloorNative.CMSG_BYTES);
    }

    int length(final int index) {
        return messages.get(JAVA_INT, (long) index * FloorNative.MMSGHDR_BYTES + FloorNative.MSG_LEN);
    }

    /// How long the datagrams are that were received as one message; its whole length where it is a single one.
    int segmentBytes(final int index) {
        final long message = (long) index * FloorNative.MMSGHDR_BYTES;
        final long control = (long) index * FloorNative.CMSG_BYTES;
        final boolean isKnown = messages.get(JAVA_LONG, message + FloorNative.MSG_CONTROLLEN) >= FloorNative.CMSG_DATA
                && controls.get(JAVA_INT, control + FloorNative.CMSG_LEVEL) == FloorNative.SOL_UDP
                && controls.get(JAVA_INT, control + FloorNative.CMSG_TYPE) == FloorNative.UDP_GRO;
        return isKnown ? controls.get(JAVA_INT, control + FloorNative.CMSG_DATA) : length(index);
    }
}
