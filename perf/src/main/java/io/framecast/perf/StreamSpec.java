package io.framecast.perf;

import java.util.List;

/// One stream of equal frames to measure, the same for every system.
///
/// @param mtuBytes largest IP packet
/// @param socketBufferBytes SO_RCVBUF and SO_SNDBUF of both ends, so that no system wins by a larger buffer; 0 for
///     what each system gets by itself
/// @param port first of the ports that the stream may use
/// @param warmUpNs frames published earlier than this after the first do not count
/// @param measureNs how long is published after the warm-up
record StreamSpec(int frameBytes, int mtuBytes, int socketBufferBytes, int port, long warmUpNs, long measureNs) {
    static final String LOOPBACK = "127.0.0.1";

    /// Aeron sends its feedback to the even neighbour, so the last number is odd.
    static final String GROUP = "224.20.30.41";

    private static final int FIELDS = 6;

    List<String> arguments() {
        return List.of(
                Integer.toString(frameBytes),
                Integer.toString(mtuBytes),
                Integer.toString(socketBufferBytes),
                Integer.toString(port),
                Long.toString(warmUpNs),
                Long.toString(measureNs));
    }

    static StreamSpec parse(final List<String> arguments) {
        if (arguments.size() != FIELDS) {
            throw new IllegalArgumentException("expected " + FIELDS + " numbers, got " + arguments);
        }
        return new StreamSpec(
                Integer.parseInt(arguments.get(0)),
                Integer.parseInt(arguments.get(1)),
                Integer.parseInt(arguments.get(2)),
                Integer.parseInt(arguments.get(3)),
                Long.parseLong(arguments.get(4)),
                Long.parseLong(arguments.get(5)));
    }
}
