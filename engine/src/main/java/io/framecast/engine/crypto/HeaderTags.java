package io.framecast.engine.crypto;

import io.framecast.reliability.lane.DataOpener;
import io.framecast.reliability.lane.DataSealer;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;

/// Seals of datagrams that authenticate the header alone: SipHash-2-4-128 of its first 48 bytes, under the key of the
/// epoch that they name. Payloads are neither encrypted nor authenticated.
///
/// Threading: the thread of the lane. The keys are its owner's.
public final class HeaderTags implements DataSealer, DataOpener {
    private final SipHash hash = new SipHash();
    private final EpochKeys keys;

    public HeaderTags(final EpochKeys keys) {
        this.keys = keys;
    }

    @Override
    public void seal(
            final MemorySegment headers,
            final long header,
            final MemorySegment payload,
            final long at,
            final int bytes) {
        DataLayout.writeEpoch(headers, header, keys.epoch());
        hash.of(keys.key(keys.epoch()), headers, header, DataLayout.TAG);
        hash.write(headers, header + DataLayout.TAG);
    }

    @Override
    public boolean open(
            final MemorySegment headers,
            final long header,
            final MemorySegment payload,
            final long at,
            final int bytes) {
        final MemorySegment key = keys.key(DataLayout.KEY_EPOCH.get(headers, header));
        if (key.byteSize() == 0) {
            return false;
        }
        hash.of(key, headers, header, DataLayout.TAG);
        return hash.matches(headers, header + DataLayout.TAG);
    }
}
