package io.framecast.api;

import io.framecast.api.format.FrameFormat;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.util.Optional;

/// One whole frame in device memory, owned by the thread that polled it until [#close] or [#release].
///
/// Visibility, towards the reader: work enqueued on a stream after `stream.await(frame.ready())`, or launched
/// after [#awaitReady], sees every byte. Nothing else does.
///
/// Visibility, back to the writer: [#release] gives the slots back only when the work already on that stream
/// is done; [#close] gives them back at once, so whatever still reads the frame then may see the next one.
///
/// Frames may be released in any order; slots return to the source as credit in the order of arrival. A frame
/// object is reused after its release: do not keep it.
public interface DeviceFrame extends AutoCloseable {
    /// Which session of which source the frame is from: a random number, another for each life of a source. To be
    /// written with [SourceEvent#sessionText].
    long session();

    /// The frame's number in its session, from 0.
    long frameId();

    /// The frame's bytes, contiguous; [DeviceRegion#bytes] is the frame's length.
    DeviceRegion region();

    long length();

    boolean keyframe();

    /// When the source took the frame, nanoseconds since the epoch by the source's clock.
    long sourceTimestampNs();

    /// The source's clock less this host's, in nanoseconds, measured by exchanges of four timestamps (Mills et al.
    /// 2010, RFC 5905 §8); 0 while it is not known. The latency from host to host is the time by this host's clock,
    /// plus this, less [#sourceTimestampNs].
    default long clockOffsetNs() {
        return 0;
    }

    /// The true offset lies within that many nanoseconds of [#clockOffsetNs]: half the round-trip time of the best
    /// exchange, and what two clocks may have drifted apart since (100 ppm). Long.MAX_VALUE while it is not known.
    default long clockErrorNs() {
        return Long.MAX_VALUE;
    }

    /// The frame's format, as its publisher gave it by [Publisher#format]; empty where it said nothing. It is known
    /// before the frame is given out, and the same object for all frames that have it in turn.
    default Optional<FrameFormat> format() {
        return Optional.empty();
    }

    /// A copy of the frame's metadata; empty when there is none.
    byte[] metadata();

    /// The metadata as a record.
    ///
    /// @throws io.framecast.api.error.CodecException when the bytes are not such a record
    default <T extends Record> T metadata(final Codec codec, final Class<T> type) {
        return codec.decode(type, metadata());
    }

    /// The value by which kernels select frames, see [Arrival]: the metadata's first four bytes, little-endian; 0
    /// when there are fewer.
    default int tag() {
        return Arrival.tag(metadata());
    }

    /// Complete when every byte is in place. Owned by the frame.
    DeviceEvent ready();

    /// Waits for [#ready].
    void awaitReady();

    /// Whether the bytes still are what was received. False where they lie in device memory of another process
    /// that died meanwhile, which happens in a host group under `placement=shared` alone: ask behind the work
    /// on the frame and before [#close], and drop the result then.
    default boolean isIntact() {
        return true;
    }

    /// A stream that waits for [#ready]: work enqueued on it from now on sees every byte. One for all frames
    /// of a subscriber, and the subscriber's: neither closed nor used by other threads than the one that
    /// polls.
    ///
    /// @throws UnsupportedOperationException where frames are not a device's
    default DeviceStream stream() {
        throw new UnsupportedOperationException("stream: this frame has none; open one on the device");
    }

    /// Gives the slots back when all work enqueued on `stream` so far is done. Returns at once.
    void release(DeviceStream stream);

    /// Gives the slots back at once. Idempotent.
    @Override
    void close();
}
