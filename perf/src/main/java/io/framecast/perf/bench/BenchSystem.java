package io.framecast.perf.bench;

import io.framecast.perf.rivals.CopySystem;
import io.framecast.perf.rivals.FloorSystem;
import io.framecast.perf.rivals.FramecastSystem;
import io.framecast.perf.rivals.MeasuredSystem;
import io.framecast.perf.rivals.Protection;
import io.framecast.perf.rivals.ShmemSystem;
import io.framecast.perf.rivals.StockAeronSystem;
import io.framecast.perf.rivals.TcpSystem;
import java.util.List;

/// A system to measure, by the name that its processes are started with.
///
/// @param name `framecast:TRANSPORT`, with `+auth` behind it where the stream is protected, or a rival
record BenchSystem(String name) {
    static final BenchSystem FLOOR = new BenchSystem("floor");
    static final BenchSystem AERON = new BenchSystem("aeron");
    static final BenchSystem TCP = new BenchSystem("tcp");
    /// Framecast's, whose receivers are a host group; and their source too, on their host.
    static final BenchSystem HOST_GROUP = new BenchSystem("host-group");
    static final BenchSystem LOCAL = new BenchSystem("local");
    /// Not Framecast's: the baseline of Chu et al. 2019, and memory without a protocol.
    static final BenchSystem SHMEM = new BenchSystem("shmem");
    static final BenchSystem COPY = new BenchSystem("copy");

    private static final List<BenchSystem> NODE = List.of(HOST_GROUP, LOCAL, SHMEM, COPY);
    private static final String FRAMECAST = "framecast:";
    private static final String PLUS = "+";

    static BenchSystem framecast(final String transport) {
        return framecast(transport, Protection.PLAIN);
    }

    static BenchSystem framecast(final String transport, final Protection protection) {
        final String suffix = protection == Protection.PLAIN ? "" : PLUS + protection.label();
        return new BenchSystem(FRAMECAST + transport + suffix);
    }

    /// The same without a protection.
    BenchSystem plain() {
        return name.startsWith(FRAMECAST) ? framecast(transport()) : this;
    }

    Protection protection() {
        for (final Protection known : Protection.values()) {
            if (name.startsWith(FRAMECAST) && name.endsWith(PLUS + known.label())) {
                return known;
            }
        }
        return Protection.PLAIN;
    }

    boolean isFramecast() {
        return name.startsWith(FRAMECAST) || equals(HOST_GROUP) || equals(LOCAL);
    }

    /// Whether it brings every frame over a network that loses datagrams.
    boolean isReliable() {
        return !equals(FLOOR);
    }

    /// Whether its source is on the host of its receivers, where these share one.
    boolean isLocal() {
        return equals(LOCAL) || equals(COPY);
    }

    MeasuredSystem open() {
        return switch (name) {
            case "floor" -> new FloorSystem();
            case "aeron" -> new StockAeronSystem();
            case "tcp" -> new TcpSystem();
            case "host-group" -> new FramecastSystem("udp", FramecastSystem.Sharing.RECEIVERS);
            case "local" -> new FramecastSystem("udp", FramecastSystem.Sharing.ALL);
            case "shmem" -> new ShmemSystem();
            case "copy" -> new CopySystem();
            default -> FramecastSystem.over(transport(), protection());
        };
    }

    /// As tables and plots call it.
    ///
    /// @param transport what carried the frames
    String label(final String transport) {
        final String protection =
                protection() == Protection.PLAIN ? "" : ", " + protection().label();
        return name.startsWith(FRAMECAST)
                ? "framecast (" + transport + protection + ")"
                : NODE.contains(this) ? name : transport;
    }

    /// The transport of the frames, before its publisher has said so.
    String transport() {
        return switch (name) {
            case "aeron" -> "stock-aeron";
            case "floor", "tcp" -> name;
            case "host-group", "local", "shmem" -> "udp";
            case "copy" -> "memory";
            default -> name.substring(FRAMECAST.length()).replaceFirst("[+].*", "");
        };
    }
}
