package io.framecast.api;

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
///     name that
///     no provider found on the class path owns. `auto` takes ordinal 0 of the first GPU kind that works,
///     or host
///     memory where there is none; it never takes a second GPU. `auto,emulated` takes the emulated GPU
///     before host
///     memory. The node reports the device that `auto` took ([NodeConfig#notices])
/// @param delivery what happens when this subscriber is too slow; `reliable` blocks the source. Nothing to a
///     publisher
/// @param aliveTimeoutMs silence after which a peer is lost
/// @param reorderDatagrams how far a datagram may be overtaken before its gap is reported
/// @param coRoots who helps the source with a large group
/// @param sources whom a subscriber listens to; nothing to a publisher
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
        require(ringBytes >= 0, "ring: expected bytes >= 0, got ", ringBytes);
        require(ringMaxBytes >= 0, "ring-max: expected bytes >= 0, got ", ringMaxBytes);
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

    public StreamConfig withWindowBytes(final long value) {
        return new StreamConfig(
                value,
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

    public StreamConfig withFrameMaxBytes(final long value) {
        return new StreamConfig(
                windowBytes,
                value,
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

    public StreamConfig withRingBytes(final long value) {
        return new StreamConfig(
                windowBytes,
                frameMaxBytes,
                value,
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

    public StreamConfig withRingMaxBytes(final long value) {
        return new StreamConfig(
                windowBytes,
                frameMaxBytes,
                ringBytes,
                value,
                framesHeld,
                device,
                delivery,
                aliveTimeoutMs,
                reorderDatagrams,
                coRoots,
                sources,
                placement);
    }

    public StreamConfig withFramesHeld(final int value) {
        return new StreamConfig(
                windowBytes,
                frameMaxBytes,
                ringBytes,
                ringMaxBytes,
                value,
                device,
                delivery,
                aliveTimeoutMs,
                reorderDatagrams,
                coRoots,
                sources,
                placement);
    }

    public StreamConfig withDevice(final String value) {
        return new StreamConfig(
                windowBytes,
                frameMaxBytes,
                ringBytes,
                ringMaxBytes,
                framesHeld,
                value,
                delivery,
                aliveTimeoutMs,
                reorderDatagrams,
                coRoots,
                sources,
                placement);
    }

    public StreamConfig withDelivery(final Delivery value) {
        return new StreamConfig(
                windowBytes,
                frameMaxBytes,
                ringBytes,
                ringMaxBytes,
                framesHeld,
                device,
                value,
                aliveTimeoutMs,
                reorderDatagrams,
                coRoots,
                sources,
                placement);
    }

    public StreamConfig withAliveTimeoutMs(final long value) {
        return new StreamConfig(
                windowBytes,
                frameMaxBytes,
                ringBytes,
                ringMaxBytes,
                framesHeld,
                device,
                delivery,
                value,
                reorderDatagrams,
                coRoots,
                sources,
                placement);
    }

    public StreamConfig withReorderDatagrams(final int value) {
        return new StreamConfig(
                windowBytes,
                frameMaxBytes,
                ringBytes,
                ringMaxBytes,
                framesHeld,
                device,
                delivery,
                aliveTimeoutMs,
                value,
                coRoots,
                sources,
                placement);
    }

    public StreamConfig withCoRoots(final CoRootOptions value) {
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
                value,
                sources,
                placement);
    }

    public StreamConfig withSources(final SourceOptions value) {
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
                value,
                placement);
    }

    public StreamConfig withPlacement(final PlacementOptions value) {
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
                value);
    }

    private static void require(final boolean condition, final String message, final long value) {
        if (!condition) {
            throw new IllegalArgumentException(message + value);
        }
    }
}
