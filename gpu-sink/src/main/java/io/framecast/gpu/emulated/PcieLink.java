package io.framecast.gpu.emulated;

/// The modelled link between host and device: each direction carries one transfer at a time at a fixed rate, so streams
/// that copy the same way share it. Owned by the DMA thread.
final class PcieLink {
    // The DMA thread may wake up late, which must not lower the rate: so much is made up for.
    private static final long CATCH_UP_MAX_NS = 1_000_000;
    private static final long CHUNK_BYTES_MAX = 1 << 20;
    private static final long CHUNK_BYTES_MIN = 4096;
    private static final double CHUNK_SECONDS = 100e-6;
    private static final double NS_PER_SECOND = 1e9;

    private final long bytesPerSecond;
    private final long chunkBytes;
    private long freeAtNs = Long.MIN_VALUE;

    PcieLink(final long bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
        this.chunkBytes = unlimited()
                ? CHUNK_BYTES_MAX
                : Math.clamp((long) (bytesPerSecond * CHUNK_SECONDS), CHUNK_BYTES_MIN, CHUNK_BYTES_MAX);
    }

    boolean unlimited() {
        return bytesPerSecond == EmulatedConfig.UNLIMITED;
    }

    /// Bytes to move before another stream gets its turn.
    long chunkBytes() {
        return chunkBytes;
    }

    /// Sends `bytes` behind the earlier ones.
    ///
    /// @param backlog whether the bytes waited for the link: then time lost to a late wake-up is caught up
    /// @return when the last byte arrives, on the clock of `nowNs`
    long send(final long bytes, final boolean backlog, final long nowNs) {
        final long startNs = Math.max(freeAtNs, backlog ? nowNs - CATCH_UP_MAX_NS : nowNs);
        freeAtNs = startNs + (long) (bytes * NS_PER_SECOND / bytesPerSecond);
        return freeAtNs;
    }
}
