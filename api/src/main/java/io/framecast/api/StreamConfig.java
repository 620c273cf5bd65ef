package io.framecast.api;

import java.util.function.Consumer;

/// How a stream behaves. The source's window, frame-max and alive-timeout reach its subscribers in the join.
///
/// @param windowBytes payload bytes the source can still repair; 0 lets the source choose from frame-max
/// @param frameMaxBytes longest frame the source may publish
/// @param ringBytes a subscriber's ring; 0 for the smallest that works: (frames held + 1) × frame-max +
///     window
/// @param ringMaxBytes most memory a subscriber gives each session for its ring and tables, whatever the
///     source asks for; 0 for a quarter of what the device, or the host, has available
/// @param framesHeld frames a subscriber may hold unreleased while one more arrives
/// @param device where the subscriber receives frames: a provider's kind and, where it has several devices, an
///     ordinal: `host`, `cuda:N`, `emulated[:N]`, or the name of a provider of your own. The node refuses a
///     name that no provider found on the class path owns. `auto` takes ordinal 0 of the first GPU kind that
///     works, the one that a launcher's rank names, or in a host group the one that fewest of its members use; or host
///     memory where there is no GPU. `auto,emulated` takes an emulated GPU before host memory. The node reports the
/// device that `auto` took ([NodeConfig#notices])
/// @param delivery what happens when this subscriber is too slow; `reliable` blocks the source. Nothing to a
///     publisher
/// @param aliveTimeoutMs silence after which a peer is lost
/// @param reorderDatagrams how far a datagram may be overtaken before its gap is reported
/// @param coRoots settings of co-roots, for a large group
/// @param sources the sources that a subscriber listens to; a publisher ignores them
/// @param placement how payloads get into the device's memory, or out of it at a source
public record StreamConfig(
        long windowBytes,
        long frameMaxBytes,
        long ringBytes,
        long ringMaxBytes,
        int framesHeld,
        String device,
        Delivery delivery,
        long aliveTimeoutMs,
        int reorderDatagrams,
        CoRootOptions coRoots,
        SourceOptions sources,
        PlacementOptions placement) {
    public static final long FRAME_MAX_LIMIT = 1L << 32;
    /// No stream has less: a few datagrams.
    public static final long RING_LEAST_BYTES = 4096;
    public static final StreamConfig DEFAULT = new StreamConfig(
            0,
            16L << 20,
            0,
            0,
            2,
            "auto",
            Delivery.RELIABLE,
            5_000,
            3,
            CoRootOptions.DEFAULT,
            SourceOptions.DEFAULT,
            PlacementOptions.DEFAULT);

    public StreamConfig {
        require(windowBytes >= 0, "window: expected bytes >= 0, got ", windowBytes);
        require(
                frameMaxBytes > 0 && frameMaxBytes < FRAME_MAX_LIMIT,
                "frame-max: expected 1 … " + (FRAME_MAX_LIMIT - 1) + " bytes, got ",
                frameMaxBytes);
        require(
                ringBytes == 0 || ringBytes >= RING_LEAST_BYTES,
                "ring: expected 0 for the smallest that works, or " + RING_LEAST_BYTES + " bytes at least, got ",
                ringBytes);
        require(
                ringMaxBytes == 0 || ringMaxBytes >= RING_LEAST_BYTES,
                "ring-max: expected 0 for a quarter of what is available, or " + RING_LEAST_BYTES
                        + " bytes at least, got ",
                ringMaxBytes);
        require(framesHeld >= 1 && framesHeld <= 1024, "frames-held: expected 1 … 1024, got ", framesHeld);
        require(
                aliveTimeoutMs >= 10 && aliveTimeoutMs <= 86_400_000,
                "alive-timeout: expected 10 … 86400000 ms, got ",
                aliveTimeoutMs);
        require(
                reorderDatagrams >= 0 && reorderDatagrams <= 10_000,
                "reorder: expected 0 … 10000 datagrams, got ",
                reorderDatagrams);
        ChannelKey.requireDevice(device);
    }

    /// How long a subscriber waits for a source that was lost.
    ///
    /// @return milliseconds; 0 where it does not
    public int rejoinMs() {
        if (sources.rejoinMs() != SourceOptions.REJOIN_AUTO) {
            return sources.rejoinMs();
        }
        return delivery.equals(Delivery.LATEST) ? SourceOptions.REJOIN_LATEST_MS : 0;
    }

    public StreamConfig withWindowBytes(final long value) {
        return with(draft -> draft.windowBytes = value);
    }

    public StreamConfig withFrameMaxBytes(final long value) {
        return with(draft -> draft.frameMaxBytes = value);
    }

    public StreamConfig withRingBytes(final long value) {
        return with(draft -> draft.ringBytes = value);
    }

    public StreamConfig withRingMaxBytes(final long value) {
        return with(draft -> draft.ringMaxBytes = value);
    }

    public StreamConfig withFramesHeld(final int value) {
        return with(draft -> draft.framesHeld = value);
    }

    public StreamConfig withDevice(final String value) {
        return with(draft -> draft.device = value);
    }

    public StreamConfig withDelivery(final Delivery value) {
        return with(draft -> draft.delivery = value);
    }

    public StreamConfig withAliveTimeoutMs(final long value) {
        return with(draft -> draft.aliveTimeoutMs = value);
    }

    public StreamConfig withReorderDatagrams(final int value) {
        return with(draft -> draft.reorderDatagrams = value);
    }

    public StreamConfig withCoRoots(final CoRootOptions value) {
        return with(draft -> draft.coRoots = value);
    }

    public StreamConfig withSources(final SourceOptions value) {
        return with(draft -> draft.sources = value);
    }

    public StreamConfig withPlacement(final PlacementOptions value) {
        return with(draft -> draft.placement = value);
    }

    private StreamConfig with(final Consumer<Draft> change) {
        final Draft draft = new Draft(this);
        change.accept(draft);
        return draft.checked();
    }

    /// The components of a config that is being changed.
    private static final class Draft {
        private long windowBytes;
        private long frameMaxBytes;
        private long ringBytes;
        private long ringMaxBytes;
        private int framesHeld;
        private String device;
        private Delivery delivery;
        private long aliveTimeoutMs;
        private int reorderDatagrams;
        private CoRootOptions coRoots;
        private SourceOptions sources;
        private PlacementOptions placement;

        private Draft(final StreamConfig config) {
            windowBytes = config.windowBytes;
            frameMaxBytes = config.frameMaxBytes;
            ringBytes = config.ringBytes;
            ringMaxBytes = config.ringMaxBytes;
            framesHeld = config.framesHeld;
            device = config.device;
            delivery = config.delivery;
            aliveTimeoutMs = config.aliveTimeoutMs;
            reorderDatagrams = config.reorderDatagrams;
            coRoots = config.coRoots;
            sources = config.sources;
            placement = config.placement;
        }

        private StreamConfig checked() {
            return new StreamConfig(
                    windowBytes,
                    frameMaxBytes,
                    ringBytes,
                    ringMaxBytes,
                    framesHeld,
                    device,
                    delivery,
                    aliveTimeoutMs,
                    reorderDatagrams,
                    coRoots,
                    sources,
                    placement);
        }
    }

    private static void require(final boolean condition, final String message, final long value) {
        if (!condition) {
            throw new IllegalArgumentException(message + value);
        }
    }
}
