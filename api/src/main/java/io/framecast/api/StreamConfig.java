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
    public static final StreamConfig DEFAULT = of(ChannelKey::defaultValue);

    public StreamConfig {
        ChannelKey.WINDOW.require(windowBytes);
        ChannelKey.FRAME_MAX.require(frameMaxBytes);
        ChannelKey.RING.require(ringBytes);
        ChannelKey.RING_MAX.require(ringMaxBytes);
        ChannelKey.FRAMES_HELD.require(framesHeld);
        ChannelKey.ALIVE_TIMEOUT.require(aliveTimeoutMs);
        ChannelKey.REORDER.require(reorderDatagrams);
        ChannelKey.DEVICE.require(device);
    }

    static StreamConfig of(final KeyValues values) {
        return new StreamConfig(
                values.get(ChannelKey.WINDOW),
                values.get(ChannelKey.FRAME_MAX),
                values.get(ChannelKey.RING),
                values.get(ChannelKey.RING_MAX),
                values.get(ChannelKey.FRAMES_HELD),
                values.get(ChannelKey.DEVICE),
                values.get(ChannelKey.DELIVERY),
                values.get(ChannelKey.ALIVE_TIMEOUT),
                values.get(ChannelKey.REORDER),
                CoRootOptions.of(values),
                SourceOptions.of(values),
                PlacementOptions.of(values));
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
        return with(ChannelKey.WINDOW, value);
    }

    public StreamConfig withFrameMaxBytes(final long value) {
        return with(ChannelKey.FRAME_MAX, value);
    }

    public StreamConfig withRingBytes(final long value) {
        return with(ChannelKey.RING, value);
    }

    public StreamConfig withRingMaxBytes(final long value) {
        return with(ChannelKey.RING_MAX, value);
    }

    public StreamConfig withFramesHeld(final int value) {
        return with(ChannelKey.FRAMES_HELD, value);
    }

    public StreamConfig withDevice(final String value) {
        return with(ChannelKey.DEVICE, value);
    }

    public StreamConfig withDelivery(final Delivery value) {
        return with(ChannelKey.DELIVERY, value);
    }

    public StreamConfig withAliveTimeoutMs(final long value) {
        return with(ChannelKey.ALIVE_TIMEOUT, value);
    }

    public StreamConfig withReorderDatagrams(final int value) {
        return with(ChannelKey.REORDER, value);
    }

    public StreamConfig withCoRoots(final CoRootOptions value) {
        return of(KeyValues.of(this, value, sources, placement));
    }

    public StreamConfig withSources(final SourceOptions value) {
        return of(KeyValues.of(this, coRoots, value, placement));
    }

    public StreamConfig withPlacement(final PlacementOptions value) {
        return of(KeyValues.of(this, coRoots, sources, value));
    }

    private StreamConfig with(final ChannelKey key, final Object value) {
        return of(KeyValues.of(this, coRoots, sources, placement).with(key, value));
    }
}
