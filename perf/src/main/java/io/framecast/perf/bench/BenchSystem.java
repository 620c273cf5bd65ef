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
    /// Framecast over udp, whose receivers share what they receive.
    static final BenchSystem HOST_GROUP = new BenchSystem("host-group");

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
            case "host-group" -> FramecastSystem.ofHostGroup();
            default -> FramecastSystem.over(name.substring(FRAMECAST.length()));
        };
    }

    /// As tables and plots call it.
    ///
    /// @param transport what carried the frames
    String label(final String transport) {
        return equals(HOST_GROUP)
                ? "framecast (host group)"
                : isFramecast() ? "framecast (" + transport + ")" : transport;
    }

    /// What carried the frames, before its publisher has said so.
    String transport() {
        return switch (name) {
            case "aeron" -> "stock-aeron";
            case "floor", "tcp" -> name;
            case "host-group" -> "udp";
            default -> name.substring(FRAMECAST.length());
        };
    }
}
