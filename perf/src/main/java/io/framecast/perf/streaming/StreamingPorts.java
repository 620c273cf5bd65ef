package io.framecast.perf.streaming;

/// Ports of the streams of one run: each stream has its own, for those before may still hear what was under
/// way.
final class StreamingPorts {
    /// Behind a stream's first.
    static final int ACKNOWLEDGEMENTS = 15;

    /// Most receivers that have a port each in a tree.
    static final int RECEIVERS_MAX = 12;

    private static final int FIRST = 21_000;
    private static final int EACH = 16;
    // Below those that systems give out by themselves.
    private static final int STREAMS = 600;

    private int stream;

    StreamingPorts(final int first) {
        stream = Math.floorMod(first, STREAMS);
    }

    /// The first port of the next stream.
    int next() {
        stream = (stream + 1) % STREAMS;
        return FIRST + stream * EACH;
    }
}
