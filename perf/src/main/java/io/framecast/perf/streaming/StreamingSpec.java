package io.framecast.perf.streaming;

import io.framecast.api.Channel;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.perf.harness.BackgroundLoad;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.LinkMeter;

/// One stream into devices, as one of its processes sees it.
///
/// @param port first of the [#PORTS] that the stream may use
/// @param index of the receiver; the source's means nothing
record StreamingSpec(StreamingPlan plan, Contender contender, StreamingCase setting, int port, int index) {
    static final int PORTS = 40;

    private static final String GROUP = "224.20.30.45";
    private static final long WINDOW_BYTES_MIN = 4 << 20;
    // More than subscribers hold by default.
    private static final int FRAMES_HELD = 8;
    private static final double SLOW_TIMES = 4;
    private static final double NS_PER_SECOND = 1e9;

    int frameBytes() {
        return plan.frameBytes();
    }

    int chunkBytes() {
        return Math.min(plan.chunkBytes(), plan.frameBytes());
    }

    /// Twice what may be under way, so that it never holds the source back.
    private long windowBytes() {
        return Math.max(WINDOW_BYTES_MIN, 2L * plan.inFlight() * frameBytes());
    }

    /// Frames that have been through every buffer of a stream once, whichever scheme's.
    int framesUntilTouched() {
        return (int) (windowBytes() / frameBytes()) + FRAMES_HELD;
    }

    /// Whether this receiver takes frames at a fraction of its link's rate, and the source waits for it only by its
    /// delivery.
    boolean isSlow() {
        return setting.impairment().hasSlow() && index == receivers() - 1;
    }

    /// How long a slow receiver holds each frame.
    long slowNs() {
        return (long) (SLOW_TIMES * NS_PER_SECOND * frameBytes() / plan.links().bytesPerSecond());
    }

    int receivers() {
        return setting.subscribers();
    }

    /// The address of a process of the stream.
    ///
    /// @param rank 0 for the source
    String address(final int rank) {
        return plan.links().address(rank - 1);
    }

    /// Of a receiver.
    int rank() {
        return index + 1;
    }

    /// Counts the bytes on the link of this process.
    LinkMeter linkMeter() {
        return plan.links().meter();
    }

    /// Receivers report to the source here.
    int acknowledgementPort() {
        return port + PORTS - 1;
    }

    /// Where a process of a tree listens for those below it.
    ///
    /// @param rank 0 for the source
    int treePort(final int rank) {
        return port + rank;
    }

    StreamingSpec ofReceiver(final int receiver) {
        return new StreamingSpec(plan, contender, setting, port, receiver);
    }

    DeviceBackend openDevice(final DeviceChoice choice) {
        return choice.open(plan.linkBytesPerSecond());
    }

    BackgroundLoad backgroundAtSource(final DeviceBackend device) {
        return new BackgroundLoad(device, setting.direction().atSource(), plan.backgroundBytesPerSecond());
    }

    BackgroundLoad backgroundAtReceiver(final DeviceBackend device) {
        return new BackgroundLoad(device, setting.direction().atReceiver(), plan.backgroundBytesPerSecond());
    }

    /// A channel of this stream whose transport alone is used, for frames in host memory.
    Channel channelOver(final String transport, final int rank) {
        return channel(transport, rank, new DeviceChoice(DeviceChoice.HOST, 0), "auto");
    }

    /// @param rank of the process
    /// @param placement `auto` for what the engine finds best
    Channel channel(final int rank, final DeviceChoice device, final String placement) {
        return channel(plan.transport(), rank, device, placement);
    }

    private Channel channel(final String transport, final int rank, final DeviceChoice device, final String placement) {
        final String inDevice =
                "|chunk=" + plan.chunkBytes() + (placement.equals("auto") ? "" : "|placement=" + placement);
        return Channel.parse("framecast:" + transport + "?group=" + GROUP + ":" + port + "|interface="
                + (plan.links().areOfHosts() ? address(rank) : plan.networkInterface())
                + (plan.links().mtuBytes() == 0 ? "" : "|mtu=" + plan.links().mtuBytes())
                + "|frame-max=" + frameBytes() + "|window="
                + windowBytes() + "|device="
                + device.text() + (device.isHost() ? "" : inDevice)
                + (rank > 0 && isSlow() ? "|delivery=" + setting.impairment().slowDelivery() : ""));
    }
}
