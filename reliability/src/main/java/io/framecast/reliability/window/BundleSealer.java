package io.framecast.reliability.window;

import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;

/// Writes header and table of a closed bundle. Each thread that closes bundles has an instance, because an instance
/// has scratch memory.
final class BundleSealer {
    // A bundle that leaves no more than this part of its slot is padded to fill it.
    private static final int PADDING_SHARE = 8;

    private final WindowMemory memory;
    private final long session;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final DataHeader header = new DataHeader();

    BundleSealer(final WindowMemory memory, final long session) {
        this.memory = memory;
        this.session = session;
    }

    /// Makes the datagram. A single frame becomes an ordinary datagram.
    ///
    /// @param word the bundle as it was closed
    /// @return bytes of its payload
    int seal(final OpenBundle bundle, final long word, final long sequence, final int slot) {
        final int count = OpenBundle.count(word);
        final long first = bundle.entry(sequence, 0);
        final int bytes =
                count == 1 ? BundleLayout.bytes(first) : writeTable(bundle, word, sequence, memory.payloadOffset(slot));
        header.session(DataLayout.TYPE_DATA, session)
                .frame(bundle.firstFrameId(sequence), bytes, bundle.timestampNs(sequence))
                .format(bundle.format(sequence))
                .attributes(
                        (count == 1 ? BundleLayout.flags(first) : DataLayout.FLAG_BUNDLE) | bundle.flags(sequence),
                        count == 1 ? 0 : count);
        final long offset = memory.headerOffset(slot);
        DataLayout.write(memory.headers(), offset, header, sequence, 0);
        checksum.seal(memory.headers(), offset, session);
        return bytes;
    }

    private int writeTable(final OpenBundle bundle, final long word, final long sequence, final long payloadOffset) {
        final int count = OpenBundle.count(word);
        // Behind the bytes that the producer may be writing at this moment.
        final int least = Math.max(OpenBundle.usedBytes(word), OpenBundle.claimedBytes(word));
        // Datagrams of full length travel in long packets and land in place, which is worth a few bytes more.
        final int full = memory.slotBytes() - BundleLayout.tableBytes(count);
        final int tableOffset = full - least <= memory.slotBytes() / PADDING_SHARE ? full : least;
        final long table = payloadOffset + tableOffset;
        for (int i = 0; i < count; i++) {
            BundleLayout.write(memory.payload(), table, i, bundle.entry(sequence, i));
        }
        BundleLayout.seal(
                memory.payload(), table, count, checksum.ofBundle(memory.payload(), table, count, session, sequence));
        return tableOffset + BundleLayout.tableBytes(count);
    }
}
