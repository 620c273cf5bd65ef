package io.framecast.engine.udp;

import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.SocketOption;
import java.util.function.Consumer;

/// The lanes' use of the kernel's cutting and joining of datagrams (udp(7): UDP_SEGMENT, UDP_GRO). After a refusal
/// by the kernel or the interface all lanes stop using it, and one line reports the refusal.
///
/// Threading: the lanes' threads; a lane that sees a refusal late is refused itself.
final class Offload {
    /// Datagrams that the kernel takes in one message.
    static final int SEGMENTS_MAX = 128;

    /// The longest message, of any number of datagrams: the longest UDP payload of IPv4.
    static final int MESSAGE_BYTES_MAX = 65_507;

    /// Datagrams that older kernels take in one message.
    static final int SEGMENTS_OLD_MAX = 64;
    private static final SocketOption GRO = new SocketOption(Linux.SOL_UDP, Linux.UDP_GRO);
    private static final SocketOption SEGMENT = new SocketOption(Linux.SOL_UDP, Linux.UDP_SEGMENT);

    private final String interfaceName;
    private final Consumer<String> notices;
    private volatile int segmentsMax;

    Offload(final String interfaceName, final Consumer<String> notices, final int segmentsMax) {
        this.interfaceName = interfaceName;
        this.notices = notices;
        this.segmentsMax = segmentsMax;
    }

    static Offload on(final String interfaceName, final Consumer<String> notices) {
        return new Offload(interfaceName, notices, SEGMENTS_MAX);
    }

    /// Datagrams that may go into one message; 1 when the kernel is not to cut.
    int segmentsMax() {
        return segmentsMax;
    }

    /// Queries whether the kernel can cut at all, when a sending socket is opened.
    void probe(final LinuxSocket socket) {
        if (segmentsMax > 1 && !socket.tryOption(SEGMENT, 0)) {
            giveUp("the kernel lacks UDP_SEGMENT");
        }
    }

    /// Makes the kernel join the datagrams of a socket.
    ///
    /// @return whether the kernel does
    boolean joinOn(final LinuxSocket socket) {
        return segmentsMax > 1 && socket.tryOption(GRO, 1);
    }

    /// Makes the kernel stop joining.
    void joinOff(final LinuxSocket socket) {
        socket.tryOption(GRO, 0);
    }

    /// A message of several datagrams was refused.
    ///
    /// @return whether fewer may be tried: the refusal has to do with their number
    boolean onRefused(final int errno, final int segments) {
        if (errno != Linux.EINVAL && errno != Linux.EIO && errno != Linux.EMSGSIZE && errno != Linux.EOPNOTSUPP) {
            return false;
        }
        if (errno == Linux.EINVAL && segments > SEGMENTS_OLD_MAX) {
            segmentsMax = Math.min(segmentsMax, SEGMENTS_OLD_MAX);
        } else if (segmentsMax > 1) {
            giveUp("error " + errno);
        }
        return true;
    }

    private void giveUp(final String reason) {
        segmentsMax = 1;
        notices.accept("udp: no segmentation offload on " + interfaceName + " (" + reason
                + "), so each datagram is sent alone");
    }
}
