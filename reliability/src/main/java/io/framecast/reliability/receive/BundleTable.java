package io.framecast.reliability.receive;

import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Separates the frames of a bundle, one after the other. The class reads the table once, checks all of it and
/// keeps a copy, so later changes of the slot do no harm.
///
/// Pure state; one thread.
public final class BundleTable {
    private final long session;
    private final long frameMaxBytes;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final long[] entries = new long[BundleLayout.FRAMES_MAX];
    private int count;
    private int next;
    private int offset;
    private long firstFrameId;
    private long timestampNs;
    private @Nullable ReceivedFrame frame;

    public BundleTable(final StreamInfo stream) {
        session = stream.session();
        frameMaxBytes = stream.frameMaxBytes();
    }

    /// Begins a bundle, or leaves everything as it is when the table is invalid.
    ///
    /// @param memory that holds the table; only the table is read
    /// @param end behind the table, which is where the bundle's payload ends
    /// @param bundle as polled; [#next] returns the frames in the same object
    /// @return false when the table is damaged or has impossible values
    public boolean open(final MemorySegment memory, final long end, final ReceivedFrame bundle) {
        final int frames = bundle.bundleFrames();
        final int tableBytes = BundleLayout.tableBytes(frames);
        final long table = end - tableBytes;
        final int tableChecksum = checksum.ofBundle(memory, table, frames, session, bundle.firstSequence());
        if (!BundleLayout.isSealed(memory, table, frames, tableChecksum)) {
            return false;
        }
        final long room = bundle.bytes() - tableBytes;
        int at = 0;
        for (int i = 0; i < frames; i++) {
            final long entry = BundleLayout.entry(memory, table, i);
            entries[i] = entry;
            final int bytes = BundleLayout.bytes(entry);
            if (!BundleLayout.isPossible(entry) || bytes > frameMaxBytes || at + bytes > room) {
                return false;
            }
            at = BundleLayout.align(at + bytes);
        }
        frame = bundle;
        firstFrameId = bundle.frameId();
        timestampNs = bundle.timestampNs();
        next = 0;
        offset = 0;
        count = frames;
        return true;
    }

    /// Frames not yet taken.
    public int remaining() {
        return count - next;
    }

    /// The next frame of the bundle, or null when there is none.
    public @Nullable ReceivedFrame next() {
        final ReceivedFrame part = frame;
        if (part == null || next == count) {
            return null;
        }
        final long entry = entries[next];
        final int bytes = BundleLayout.bytes(entry);
        part.part(firstFrameId + next, offset, bytes, next == count - 1);
        part.attributes(timestampNs + BundleLayout.deltaNs(entry), BundleLayout.flags(entry), null);
        offset = BundleLayout.align(offset + bytes);
        next++;
        return part;
    }

    /// Discards the frames that were not taken.
    public void clear() {
        next = count;
    }
}
