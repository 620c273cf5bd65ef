package io.framecast.engine.udp;

import io.framecast.api.spi.LaneKind;
import io.framecast.engine.udp.Sockets.Option;
import java.util.function.Consumer;

/// Sizes the kernel's buffers of a channel's sockets, and says once when the system gives less than is wanted.
final class SocketBuffers {
    // Room for what a source may send while a receiver does not run: more than a frame, and not so much that what waits
    // there falls out of the caches; the source waits for credit then. Repairs and reports come to a fraction of it.
    private static final int DATA_BYTES = 8 << 20;
    private static final int REPAIR_BYTES = 8 << 20;
    private static final int CONTROL_BYTES = 4 << 20;

    /// With less than this, frames of some megabytes cross the network in fits and starts.
    private static final int CONTENT_BYTES = 4 << 20;

    // Smaller than the queue of a network card (1000 packets): a full card is then felt as back-pressure, where
    // a larger buffer would have the queue drop datagrams without a word.
    private static final int SEND_BYTES = 1 << 20;

    private static final Option RECEIVE = socketOption(SocketLayouts.SO_RCVBUF);
    private static final Option RECEIVE_FORCE = socketOption(SocketLayouts.SO_RCVBUFFORCE);
    private static final Option SEND = socketOption(SocketLayouts.SO_SNDBUF);
    private static final Option SEND_FORCE = socketOption(SocketLayouts.SO_SNDBUFFORCE);

    private final int wantedBytes;
    private final Consumer<String> warnings;
    private boolean warnedReceive;
    private boolean warnedSend;

    /// @param wantedBytes what the channel asks for; 0 for as much as the system gives
    SocketBuffers(final int wantedBytes, final Consumer<String> warnings) {
        this.wantedBytes = wantedBytes;
        this.warnings = warnings;
    }

    private static Option socketOption(final int name) {
        return new Option(SocketLayouts.SOL_SOCKET, name);
    }

    /// Sizes the receive buffer of a lane's socket.
    ///
    /// @return bytes that the kernel charges datagrams against: twice what is asked for, see socket(7)
    long sizeReceive(final LinuxSocket socket, final LaneKind kind) {
        final int defaultBytes = defaultBytes(kind);
        final long charged = size(socket, RECEIVE, RECEIVE_FORCE, wantedBytes == 0 ? defaultBytes : wantedBytes);
        final int leastBytes = wantedBytes == 0 ? Math.min(CONTENT_BYTES, defaultBytes) : wantedBytes;
        if (charged / 2 < leastBytes && !warnedReceive) {
            warnedReceive = true;
            warnings.accept("udp: receive buffer of " + charged / 2 + " bytes, wanted " + leastBytes
                    + "; run sysctl -w net.core.rmem_max=" + (wantedBytes == 0 ? DATA_BYTES : wantedBytes));
        }
        return charged;
    }

    void sizeSend(final LinuxSocket socket) {
        final long charged = size(socket, SEND, SEND_FORCE, wantedBytes == 0 ? SEND_BYTES : wantedBytes);
        if (wantedBytes != 0 && charged / 2 < wantedBytes && !warnedSend) {
            warnedSend = true;
            warnings.accept("udp: send buffer of " + charged / 2 + " bytes, wanted " + wantedBytes
                    + "; run sysctl -w net.core.wmem_max=" + wantedBytes);
        }
    }

    // The forced size passes the system's limit and needs CAP_NET_ADMIN; the other is cut to the limit.
    private static long size(final LinuxSocket socket, final Option option, final Option force, final int bytes) {
        // The kernel doubles the value, and refuses or wraps what then passes 2^31.
        final int asked = Math.min(bytes, Integer.MAX_VALUE / 2);
        if (!socket.tryOption(force, asked)) {
            socket.option(option, asked);
        }
        return socket.option(option);
    }

    private static int defaultBytes(final LaneKind kind) {
        return switch (kind) {
            case DATA -> DATA_BYTES;
            case REPAIR -> REPAIR_BYTES;
            case CONTROL -> CONTROL_BYTES;
        };
    }
}
