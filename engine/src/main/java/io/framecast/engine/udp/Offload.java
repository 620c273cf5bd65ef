package io.framecast.engine.udp;

import io.framecast.engine.udp.Sockets.Option;
import java.util.function.Consumer;

/// How far a transport's lanes let the kernel cut and join datagrams (udp(7): UDP_SEGMENT, UDP_GRO). What the kernel or
/// the interface refuses is given up for all lanes, and said once.
///
/// Threading: lanes' threads; they may learn of a refusal late and find out for themselves.
final class Offload {
    /// Datagrams that the kernel takes in one message.
    static final int SEGMENTS_MAX = 128;

    /// The longest message, whatever the number of its datagrams: the longest UDP payload of IPv4.
    static final int MESSAGE_BYTES_MAX = 65_507;

    /// What older kernels take.
    static final int SEGMENTS_OLD_MAX = 64;
    private static final Option GRO = new Option(SocketLayouts.SOL_UDP, SocketLayouts.UDP_GRO);
    private static final Option SEGMENT = new Option(SocketLayouts.SOL_UDP, SocketLayouts.UDP_SEGMENT);

    private final String interfaceName;
    private final Consumer<String> notices;
    private volatile int segmentsMax;

    private Offload(final String interfaceName, final Consumer<String> notices, final int segmentsMax) {
        this.interfaceName = interfaceName;
        this.notices = notices;
        this.segmentsMax = segmentsMax;
    }

    static Offload on(final String interfaceName, final Consumer<String> notices) {
        return new Offload(interfaceName, notices, SEGMENTS_MAX);
    }

    /// One datagram per message, both ways.
    static Offload off() {
        return new Offload("", _ -> {}, 1);
    }

    /// Datagrams that may go into one message; 1 when the kernel is not to cut.
    int segmentsMax() {
        return segmentsMax;
    }

    /// Asks whether the kernel can cut at all, when a socket that sends is opened.
    void probe(final LinuxSocket socket) {
        if (segmentsMax > 1 && !socket.tryOption(SEGMENT, 0)) {
            giveUp("the kernel lacks UDP_SEGMENT");
        }
    }

    /// Asks the kernel to join what a socket receives.
    ///
    /// @return whether it does
    boolean joinOn(final LinuxSocket socket) {
        return segmentsMax > 1 && socket.tryOption(GRO, 1);
    }

    /// Asks the kernel to join no longer.
    void joinOff(final LinuxSocket socket) {
        socket.tryOption(GRO, 0);
    }

    /// A message of several datagrams was refused.
    ///
    /// @return whether fewer may be tried: the refusal has to do with their number
    boolean onRefused(final int errno, final int segments) {
        if (errno != SocketLayouts.EINVAL
                && errno != SocketLayouts.EIO
                && errno != SocketLayouts.EMSGSIZE
                && errno != SocketLayouts.EOPNOTSUPP) {
            return false;
        }
        if (errno == SocketLayouts.EINVAL && segments > SEGMENTS_OLD_MAX) {
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
