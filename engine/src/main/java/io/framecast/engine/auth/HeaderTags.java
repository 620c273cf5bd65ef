package io.framecast.engine.auth;

import io.framecast.engine.crypto.SecretBytes;
import io.framecast.engine.crypto.SipHash;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Seals of datagrams of the data lane that authenticate the header alone: SipHash-2-4-128 of its first 48 bytes, under
/// the key of the epoch that they name. Payloads are neither encrypted nor authenticated.
public final class HeaderTags implements DatagramSeals {
    // At a receiver: the epoch before, the current one, and those that are not used yet.
    private static final int EPOCHS_MAX = 8;
    private static final long UNREAD = -1;

    private final DataKeys keys;
    private final SipHash hash = new SipHash();
    private final int[] epochs = new int[EPOCHS_MAX];
    private final @Nullable SecretBytes[] derived = new SecretBytes[EPOCHS_MAX];
    private final MemorySegment[] bytes = new MemorySegment[EPOCHS_MAX];
    private int count;
    private long version = UNREAD;

    public HeaderTags(final DataKeys keys) {
        this.keys = keys;
    }

    @Override
    public void seal(
            final MemorySegment headers,
            final long header,
            final MemorySegment payload,
            final long at,
            final int payloadBytes) {
        DataLayout.writeEpoch(headers, header, keys.epoch());
        hash.of(key(keys.epoch()), headers, header, DataLayout.TAG);
        hash.write(headers, header + DataLayout.TAG);
    }

    @Override
    public boolean open(
            final MemorySegment headers,
            final long header,
            final MemorySegment payload,
            final long at,
            final int payloadBytes) {
        final int epoch = DataLayout.KEY_EPOCH.get(headers, header);
        final MemorySegment key = key(epoch);
        if (key.byteSize() == 0 || !keys.isWithin(epoch, DataLayout.SEQUENCE.get(headers, header))) {
            return false;
        }
        hash.of(key, headers, header, DataLayout.TAG);
        return hash.matches(headers, header + DataLayout.TAG);
    }

    /// Does nothing: payloads lie as they came.
    @Override
    public void reseal(
            final MemorySegment headers,
            final long header,
            final MemorySegment payload,
            final long at,
            final int payloadBytes) {}

    // Of length 0 where there is none.
    private MemorySegment key(final int epoch) {
        if (version != keys.version()) {
            derive();
        }
        for (int i = 0; i < count; i++) {
            if (epochs[i] == epoch) {
                return bytes[i];
            }
        }
        return MemorySegment.NULL;
    }

    // The newest are kept where there are more than fit.
    private void derive() {
        close();
        version = keys.version();
        for (int i = Math.max(0, keys.count() - EPOCHS_MAX); i < keys.count(); i++) {
            final SecretBytes key = keys.key(keys.epochAt(i));
            if (key != null) {
                final SecretBytes made = KeySchedule.header(key);
                epochs[count] = keys.epochAt(i);
                derived[count] = made;
                bytes[count++] = made.segment();
            }
        }
    }

    @Override
    public void close() {
        for (int i = 0; i < count; i++) {
            final SecretBytes key = derived[i];
            if (key != null) {
                key.close();
            }
            derived[i] = null;
            bytes[i] = MemorySegment.NULL;
        }
        count = 0;
        version = UNREAD;
    }
}
