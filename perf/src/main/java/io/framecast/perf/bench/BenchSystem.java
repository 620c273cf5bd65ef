package io.framecast.perf.bench;

import io.framecast.perf.rivals.FloorSystem;
import io.framecast.perf.rivals.FramecastSystem;
import io.framecast.perf.rivals.MeasuredSystem;
import io.framecast.perf.rivals.StockAeronSystem;
import io.framecast.perf.rivals.TcpSystem;

/// A system to measure, by the name that its processes are started with.
///
/// @param name `framecast:TRANSPORT`, or a rival
record BenchSystem(String name) {
    static final BenchSystem FLOOR = new BenchSystem("floor");
    static final BenchSystem AERON = new BenchSystem("aeron");
    static final BenchSystem TCP = new BenchSystem("tcp");

    private static final String FRAMECAST = "framecast:";

    static BenchSystem framecast(final String transport) {
        return new BenchSystem(FRAMECAST + transport);
    }

    boolean isFramecast() {
        return name.startsWith(FRAMECAST);
    }

    /// Whether it brings every frame over a network that loses datagrams.
    boolean isReliable() {
        return !equals(FLOOR);
    }

    MeasuredSystem open() {
        return switch (name) {
            case "floor" -> new FloorSystem();
            case "aeron" -> new StockAeronSystem();
            case "tcp" -> new TcpSystem();
            default -> new FramecastSystem(name.substring(FRAMECAST.length()));
        };
    }

    /// As tables and plots call it.
    ///
    /// @param transport what carried the frames
    String label(final String transport) {
        return isFramecast() ? "framecast (" + transport + ")" : transport;
    }

    /// What carried the frames, before its publisher has said so.
    String transport() {
        return switch (name) {
            case "aeron" -> "stock-aeron";
            case "floor", "tcp" -> name;
            default -> name.substring(FRAMECAST.length());
        };
    }
}
