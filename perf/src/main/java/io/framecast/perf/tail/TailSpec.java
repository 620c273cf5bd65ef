package io.framecast.perf.tail;

import io.framecast.api.Channel;
import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.Links;
import java.util.List;

/// One stream whose repairs are timed, as each of its processes sees it.
///
/// @param load what is sent
/// @param port the group's: data, and the lanes' behind it
/// @param receivers addresses of all of them
/// @param localAddress this process's
record TailSpec(Load load, int port, List<String> receivers, String localAddress) {
    static final String GROUP = "224.20.30.41";
    static final Links LINKS = new Links(BenchNet.BRIDGE, 1500, 0);
    /// Payload of a full datagram at this MTU.
    static final int SLOT_BYTES = 1408;
    /// The port that lost data comes to.
    static final int DIVERTED_PORT = 20_200;
    /// The port that every other lost datagram comes to.
    static final int LOST_ELSE_PORT = DIVERTED_PORT + 1;

    static final int PING_PORT = DIVERTED_PORT + 2;

    private static final double NS_PER_SECOND = 1e9;

    /// The frames of the stream.
    ///
    /// @param framesPerSecond 0 for as many as are taken; then nothing is logged
    /// @param leadNs frames published earlier than this after the first do not count
    record Load(int frameBytes, double framesPerSecond, long leadNs, long measureNs) {
        /// Frames of the whole stream; 0 when it is as many as are taken.
        int frames() {
            return (int) Math.ceil(framesPerSecond * (leadNs + measureNs) / NS_PER_SECOND);
        }

        int leadFrames() {
            return (int) (framesPerSecond * leadNs / NS_PER_SECOND);
        }

        int datagramsPerFrame() {
            return Math.ceilDiv(frameBytes, SLOT_BYTES);
        }
    }

    /// Control datagrams to the group.
    int controlPort() {
        return port + 2;
    }

    TailSpec of(final String address) {
        return new TailSpec(load, port, receivers, address);
    }

    Channel channel() {
        return Channel.parse("framecast:udp?group=" + GROUP + ":" + port + "|interface=" + localAddress + "|mtu="
                + LINKS.mtuBytes() + "|frame-max=" + load.frameBytes() + "|device=host");
    }
}
