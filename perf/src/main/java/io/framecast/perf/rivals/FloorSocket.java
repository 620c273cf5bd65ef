package io.framecast.perf.rivals;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.framecast.perf.rivals.FloorNative.Option;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.UnknownHostException;

/// One blocking IPv4 UDP socket by the C library's own calls. One thread at a time.
final class FloorSocket implements AutoCloseable {
    private static final int SCRATCH_BYTES = 64;

    private final MemorySegment capture;
    private final MemorySegment scratch;
    private final MemorySegment scratchLength;
    private final int fd;

    private FloorSocket(final Arena arena) {
        capture = FloorNative.newCapture(arena);
        scratch = arena.allocate(SCRATCH_BYTES, Long.BYTES);
        scratchLength = arena.allocate(JAVA_INT);
        fd = FloorNative.socket(capture);
        check(fd, "socket");
    }

    /// Memory comes from `arena`, which must outlive the socket.
    static FloorSocket open(final Arena arena) {
        return new FloorSocket(arena);
    }

    void bind(final String address, final int port) {
        check(FloorNative.bind(capture, fd, address(address, port)), "bind to " + address + ":" + port);
    }

    void connect(final String address, final int port) {
        check(FloorNative.connect(capture, fd, address(address, port)), "connect to " + address + ":" + port);
    }

    /// Connects it to itself.
    void connectToItself() {
        scratchLength.set(JAVA_INT, 0, SCRATCH_BYTES);
        check(FloorNative.getsockname(capture, fd, scratch, scratchLength), "getsockname");
        check(FloorNative.connect(capture, fd, scratch), "connect");
    }

    /// Hears a group by the interface that has an address.
    void join(final String group, final String localAddress) {
        final MemorySegment request =
                scratch.asSlice(0, FloorNative.IP_MREQN_BYTES).fill((byte) 0);
        putAddress(request, 0, group);
        putAddress(request, FloorNative.IMR_ADDRESS, localAddress);
        check(
                FloorNative.setsockopt(capture, fd, Option.ip(FloorNative.IP_ADD_MEMBERSHIP), request),
                "join " + group + " by " + localAddress);
        option(Option.ip(FloorNative.IP_MULTICAST_ALL), 0);
    }

    void multicastBy(final String localAddress) {
        final MemorySegment request = scratch.asSlice(0, Integer.BYTES);
        putAddress(request, 0, localAddress);
        check(
                FloorNative.setsockopt(capture, fd, Option.ip(FloorNative.IP_MULTICAST_IF), request),
                "multicast by " + localAddress);
        option(Option.ip(FloorNative.IP_MULTICAST_LOOP), 1);
    }

    void option(final Option option, final int value) {
        if (!tryOption(option, value)) {
            check(-1, "option " + option + " = " + value);
        }
    }

    boolean tryOption(final Option option, final int value) {
        scratch.set(JAVA_INT, 0, value);
        return FloorNative.setsockopt(capture, fd, option, scratch.asSlice(0, Integer.BYTES)) == 0;
    }

    /// How long a receive waits at most.
    void receiveTimeout(final long milliseconds) {
        final MemorySegment time = scratch.asSlice(0, 2 * Long.BYTES);
        time.setAtIndex(JAVA_LONG, 0, milliseconds / 1_000);
        time.setAtIndex(JAVA_LONG, 1, milliseconds % 1_000 * 1_000);
        check(FloorNative.setsockopt(capture, fd, Option.socket(FloorNative.SO_RCVTIMEO), time), "SO_RCVTIMEO");
    }

    /// As Framecast's transport does: past the system's limit where that is permitted, else as much as it
    /// gives.
    ///
    /// @return bytes that the kernel charges datagrams against
    int sizeReceiveBuffer(final int bytes) {
        if (!tryOption(Option.socket(FloorNative.SO_RCVBUFFORCE), bytes)) {
            option(Option.socket(FloorNative.SO_RCVBUF), bytes);
        }
        scratchLength.set(JAVA_INT, 0, Integer.BYTES);
        check(
                FloorNative.getsockopt(capture, fd, Option.socket(FloorNative.SO_RCVBUF), scratch, scratchLength),
                "SO_RCVBUF");
        return scratch.get(JAVA_INT, 0);
    }

    void sizeSendBuffer(final int bytes) {
        if (!tryOption(Option.socket(FloorNative.SO_SNDBUFFORCE), bytes)) {
            option(Option.socket(FloorNative.SO_SNDBUF), bytes);
        }
    }

    /// The content of the receive buffer, as the kernel charges it.
    long chargedBytes() {
        scratchLength.set(JAVA_INT, 0, FloorNative.MEMINFO_WORDS * Integer.BYTES);
        check(
                FloorNative.getsockopt(capture, fd, Option.socket(FloorNative.SO_MEMINFO), scratch, scratchLength),
                "SO_MEMINFO");
        return Integer.toUnsignedLong(scratch.get(JAVA_INT, 0));
    }

    /// Sends all of `count` messages, waiting for room.
    void send(final FloorMessages messages, final int first, final int count) {
        int sent = 0;
        while (sent < count) {
            final int result = FloorNative.sendmmsg(capture, fd, messages.address(first + sent), count - sent);
            if (result < 0 && FloorNative.errno(capture) != FloorNative.EINTR) {
                check(result, "sendmmsg");
            }
            sent += Math.max(0, result);
        }
    }

    /// Sends one message to a peer that may not be there yet, or any more.
    void sendAnyway(final FloorMessages messages) {
        for (int tries = 0; tries < 2; tries++) {
            // The call reports the error of the datagram before, refused by the other machine, here, once.
            if (FloorNative.sendmmsg(capture, fd, messages.address(0), 1) >= 0
                    || FloorNative.errno(capture) != FloorNative.ECONNREFUSED) {
                return;
            }
        }
    }

    /// Waits for at least one message.
    ///
    /// @return how many there are; 0 when the time is over
    int receive(final FloorMessages messages, final int flags) {
        final int result = FloorNative.recvmmsg(capture, fd, messages.address(0), messages.count(), flags);
        if (result >= 0) {
            return result;
        }
        final int errno = FloorNative.errno(capture);
        if (errno != FloorNative.EAGAIN && errno != FloorNative.EINTR) {
            check(result, "recvmmsg");
        }
        return 0;
    }

    private MemorySegment address(final String address, final int port) {
        scratch.fill((byte) 0);
        scratch.set(JAVA_SHORT, 0, (short) FloorNative.AF_INET);
        scratch.set(JAVA_BYTE, FloorNative.SIN_PORT, (byte) (port >> 8));
        scratch.set(JAVA_BYTE, FloorNative.SIN_PORT + 1, (byte) port);
        putAddress(scratch, FloorNative.SIN_ADDR, address);
        return scratch;
    }

    private static void putAddress(final MemorySegment target, final long offset, final String address) {
        try {
            MemorySegment.copy(
                    InetAddress.getByName(address).getAddress(), 0, target, JAVA_BYTE, offset, Integer.BYTES);
        } catch (final UnknownHostException e) {
            throw new IllegalArgumentException("expected an IPv4 address, got " + address, e);
        }
    }

    private void check(final int result, final String what) {
        if (result < 0) {
            throw new IllegalStateException("floor: " + what + ": errno " + FloorNative.errno(capture));
        }
    }

    @Override
    public void close() {
        FloorNative.close(capture, fd);
    }
}
