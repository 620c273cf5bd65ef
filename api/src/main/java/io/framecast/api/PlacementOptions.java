package io.framecast.api;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// How payloads get from the network into a device's memory, and how a source's frames get out of it.
///
/// @param kind a subscriber's: the placement of payloads; `auto` takes the first of the others that works here
/// @param fastcopyMaxBytes a subscriber's: longest run of bytes that the CPU stores through a mapping
///     (`fastcopy`) instead of asking the device's copy engine; [#AUTO] measures it at start
/// @param fastcopyReadMaxBytes a publisher's: longest frame that the CPU reads out of device memory
///     through a mapping (Shi et al. 2014, fastcopy from device to host); [#AUTO] measures it
/// @param gatherMaxBytes a publisher's: longest frame that the NIC sends from device memory; longer ones
///     are copied to the host (Chu et al. 2019, §4.2: 128 KB); [#AUTO] measures it
/// @param chunkBytes a publisher's: the length of the pieces in which a frame is copied out of device
///     memory, while the pieces before are sent. It is no threshold: a shorter frame is one piece. [#AUTO]
///     measures the device's fastest length
public record PlacementOptions(
        Kind kind, long fastcopyMaxBytes, long fastcopyReadMaxBytes, long gatherMaxBytes, long chunkBytes) {
    public static final long AUTO = -1;
    /// More is a mistake: the CPU would be busy with copies for milliseconds.
    public static final long FASTCOPY_MAX_LIMIT = 16L << 20;

    public static final long CHUNK_MAX_LIMIT = 1L << 30;
    public static final long GATHER_MAX_LIMIT = 1L << 40;

    public static final PlacementOptions DEFAULT = of(ChannelKey::defaultValue);

    /// Placements in a device's memory, in the order in which the subscriber tries them.
    public enum Kind {
        /// The first of the following that works here.
        AUTO,
        /// The transport writes payloads into device memory. Such a subscriber serves as a co-root
        /// ([CoRootOptions#serves]) only from a replica in host memory that the source writes.
        DIRECT,
        /// Payloads land in the host; the CPU stores short ones into the device's memory through a mapping of
        /// it, the copy engine takes the rest.
        FASTCOPY,
        /// Payloads land in the host; the NIC copies them on.
        LOOPBACK,
        /// In a host group ([SourceOptions#hostGroup]): another member has copied frames to the same device, and
        /// they are read there. They are gone when that process dies.
        SHARED,
        /// In a host group: another member has copied frames to its device, and each is copied from there, within
        /// the device or from device to device.
        PEER,
        /// Payloads land in a pinned ring in the host; the device's copy engine takes them by runs of
        /// datagrams.
        STAGED;

        /// As written in a channel.
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        static List<String> words() {
            return Arrays.stream(values()).map(Kind::word).toList();
        }

        static Kind parse(final String text) {
            final List<String> words = words();
            if (!words.contains(text)) {
                throw new IllegalArgumentException("placement: expected " + String.join(" or ", words) + ", got " + text
                        + "; nearest is " + EditDistance.nearest(text, words));
            }
            return values()[words.indexOf(text)];
        }
    }

    public PlacementOptions {
        ChannelKey.FASTCOPY_MAX.require(fastcopyMaxBytes);
        ChannelKey.FASTCOPY_READ_MAX.require(fastcopyReadMaxBytes);
        ChannelKey.GATHER_MAX.require(gatherMaxBytes);
        ChannelKey.CHUNK.require(chunkBytes);
    }

    static PlacementOptions of(final KeyValues values) {
        return new PlacementOptions(
                values.get(ChannelKey.PLACEMENT),
                values.get(ChannelKey.FASTCOPY_MAX),
                values.get(ChannelKey.FASTCOPY_READ_MAX),
                values.get(ChannelKey.GATHER_MAX),
                values.get(ChannelKey.CHUNK));
    }

    public PlacementOptions withKind(final Kind value) {
        return with(ChannelKey.PLACEMENT, value);
    }

    public PlacementOptions withFastcopyMaxBytes(final long value) {
        return with(ChannelKey.FASTCOPY_MAX, value);
    }

    public PlacementOptions withFastcopyReadMaxBytes(final long value) {
        return with(ChannelKey.FASTCOPY_READ_MAX, value);
    }

    public PlacementOptions withGatherMaxBytes(final long value) {
        return with(ChannelKey.GATHER_MAX, value);
    }

    public PlacementOptions withChunkBytes(final long value) {
        return with(ChannelKey.CHUNK, value);
    }

    private PlacementOptions with(final ChannelKey key, final Object value) {
        return of(KeyValues.of(this).with(key, value));
    }
}
