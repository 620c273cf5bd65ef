package io.framecast.perf.tail;

import java.util.List;

/// One stream whose repairs are timed, as each of its processes sees it.
///
/// @param load what is sent
/// @param link what it is sent over
/// @param localAddress this process's
/// @param file that it writes its [TailLog] to; empty for none
record TailSpec(Load load, Link link, String localAddress, String file) {
    static final int MTU_BYTES = 1500;
    /// Payload of a full datagram at this MTU.
    static final int SLOT_BYTES = 1408;

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

    /// The network of the stream.
    ///
    /// @param port the group's: data, and the lanes' behind it
    /// @param divertedPort where lost data comes to; on the one behind it what else is lost; on the next
    ///     pings are answered
    /// @param receivers addresses of all of them
    record Link(String group, int port, int divertedPort, List<String> receivers) {
        /// Control datagrams to the group.
        int controlPort() {
            return port + 2;
        }

        int lostElsePort() {
            return divertedPort + 1;
        }

        int pingPort() {
            return divertedPort + 2;
        }
    }

    TailSpec of(final String address, final String logFile) {
        return new TailSpec(load, link, address, logFile);
    }
}
