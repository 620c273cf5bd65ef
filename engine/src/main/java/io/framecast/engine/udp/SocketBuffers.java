package io.framecast.engine.udp;

import io.framecast.api.spi.LaneKind;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.SocketOption;
import java.util.function.Consumer;

/// Sizes the kernel's buffers of a channel's sockets, and warns once when the system gives less than the
/// channel wants.
final class SocketBuffers {
    // Room for the datagrams that a source may send while a receiver does not run: more than a frame, and
    // little enough that waiting datagrams stay in the caches. Repairs and reports come to a fraction of it.
    private static final int STREAM_BYTES = 8 << 20;
    private static final int CONTROL_BYTES = 4 << 20;

    /// With less than this, frames of some megabytes arrive in bursts with pauses between them.
    private static final int CONTENT_BYTES = 4 << 20;

    // Smaller than the queue of a network card (1000 packets), so that a full card causes back-pressure. With a
    // larger buffer the queue would drop datagrams silently.
    private static final int SEND_BYTES = 1 << 20;

    private static final SocketOption RECEIVE = socketOption(Linux.SO_RCVBUF);
    private static final SocketOption RECEIVE_FORCE = socketOption(Linux.SO_RCVBUFFORCE);
    private static final SocketOption SEND = socketOption(Linux.SO_SNDBUF);
    private static final SocketOption SEND_FORCE = socketOption(Linux.SO_SNDBUFFORCE);

    private final int wantedBytes;
    private final Consumer<String> warnings;
    private boolean warnedReceive;
    private boolean warnedSend;

    /// @param wantedBytes size that the channel asks for; 0 for as much as the system gives
    SocketBuffers(final int wantedBytes, final Consumer<String> warnings) {
        this.wantedBytes = wantedBytes;
        this.warnings = warnings;
    }

    private static SocketOption socketOption(final int name) {
        return new SocketOption(Linux.SOL_SOCKET, name);
    }

    /// Sizes the receive buffer of a lane's socket.
    ///
    /// @return bytes that the kernel charges datagrams against: twice the requested size, see socket(7)
    long sizeReceive(final LinuxSocket socket, final LaneKind kind) {
        final int defaultBytes = kind == LaneKind.CONTROL ? CONTROL_BYTES : STREAM_BYTES;
        final long charged = size(socket, RECEIVE, RECEIVE_FORCE, wantedBytes == 0 ? defaultBytes : wantedBytes);
        final int leastBytes = wantedBytes == 0 ? Math.min(CONTENT_BYTES, defaultBytes) : wantedBytes;
        if (charged / 2 < leastBytes && !warnedReceive) {
            warnedReceive = true;
            warnings.accept("udp: receive buffer of " + charged / 2 + " bytes, wanted " + leastBytes
                    + "; run sysctl -w net.core.rmem_max=" + (wantedBytes == 0 ? STREAM_BYTES : wantedBytes));
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
    private static long size(
            final LinuxSocket socket, final SocketOption option, final SocketOption force, final int bytes) {
        // The kernel doubles the value, and refuses or wraps a result beyond 2^31.
        final int asked = Math.min(bytes, Integer.MAX_VALUE / 2);
        if (!socket.tryOption(force, asked)) {
            socket.option(option, asked);
        }
        return socket.option(option);
    }
}
