package io.framecast.reliability.window;

import org.jspecify.annotations.Nullable;

/// The port through which a [FrameWriter] shows whole frames to readers of the window beside the network.
///
/// Used by the producer's thread.
public interface FrameReaders {
    /// Only the network reads the window, so only the consumer frees it.
    FrameReaders NONE = new FrameReaders() {
        @Override
        public boolean hasRoom() {
            return true;
        }

        @Override
        public boolean hasRoomForFormat() {
            return true;
        }

        @Override
        public void begin(
                final long sequence,
                final long frameId,
                final int flags,
                final long timestampNs,
                final byte[] metadata,
                final @Nullable StreamFormat format) {
            // The datagrams say it all.
        }

        @Override
        public void publish(final long offset, final long length) {
            // The datagrams say it all.
        }

        @Override
        public boolean reclaim() {
            return false;
        }
    };

    /// Whether the readers can be given one more frame.
    boolean hasRoom();

    /// Whether the readers can be given one more format.
    boolean hasRoomForFormat();

    /// Begins a frame, before any of its datagrams is committed. [#publish] follows.
    ///
    /// @param sequence of its first datagram, or less
    /// @param metadata empty for none
    /// @param format null for none
    void begin(
            long sequence, long frameId, int flags, long timestampNs, byte[] metadata, @Nullable StreamFormat format);

    /// The frame that was begun lies in the window, whether or not all of it is committed.
    ///
    /// @param offset of its bytes in the window's payload memory
    void publish(long offset, long length);

    /// Frees what the readers released, unless the consumer does the same just now.
    ///
    /// @return whether more may be free than before
    boolean reclaim();
}
