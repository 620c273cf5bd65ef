package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.crypto.SipHash;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Seals of datagrams of the data lane that authenticate the header alone: SipHash-2-4-128 of its first 48 bytes, under
/// the key of the epoch that they name. Payloads are neither encrypted nor authenticated.
///
/// The bytes that the datagrams of a frame share come first, so that they are hashed once a frame.
public final class HeaderTags implements DatagramSeals {
    // At a receiver: the epoch before, the current one, and epochs that are not used yet.
    private static final int EPOCHS_MAX = 8;
    private static final long UNREAD = -1;
    private static final long LOW = 0xffff_ffffL;

    // Words of a header: attributes and checksum, session and frame, sequence, timestamp, length and index, epoch, tag.
    private static final int HEAD = 0;
    private static final int FRAME = 1;
    private static final int SEQUENCE = 2;
    private static final int TIMESTAMP = 3;
    private static final int TAIL = 4;
    private static final int EPOCH = 5;
    private static final int TAG = 6;

    private final DataKeys keys;
    private final SipHash hash = new SipHash();
    // The last datagram's words that its frame shares: the hash begins with them.
    private final long[] shared = new long[TAG];
    private boolean hasBegun;
    private boolean isClosed;
    // A header, in words of eight bytes.
    private final long[] words = new long[DataLayout.SEALED_LENGTH / Long.BYTES];
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
        if (!hash(headers, header)) {
            throw new IllegalStateException("no key of epoch " + keys.epoch());
        }
        hash.write(headers, header + DataLayout.TAG);
    }

    @Override
    public boolean sealsPayload() {
        return false;
    }

    @Override
    public boolean open(
            final MemorySegment headers,
            final long header,
            final MemorySegment payload,
            final long at,
            final int payloadBytes) {
        final boolean isOpen = hash(headers, header)
                && keys.isWithin((int) words[EPOCH], words[SEQUENCE])
                && hash.matches(words[TAG], words[TAG + 1]);
        if (isOpen && keys.count() > 1 && DataLayout.type(headers, header) == DataLayout.TYPE_DATA) {
            keys.onOpened((int) words[EPOCH], words[SEQUENCE]);
        }
        return isOpen;
    }

    // False where there is no key.
    private boolean hash(final MemorySegment headers, final long header) {
        Wire.getLongs(headers, header, words);
        final long attributes = (words[HEAD] & LOW) | (words[TAIL] << Integer.SIZE);
        if (!isSameFrame(attributes) && !begin(attributes)) {
            return false;
        }
        hash.end(words[SEQUENCE], (words[HEAD] >>> Integer.SIZE) | (words[TAIL] & ~LOW));
        return true;
    }

    private boolean isSameFrame(final long attributes) {
        return shared[HEAD] == attributes
                && shared[FRAME] == words[FRAME]
                && shared[TIMESTAMP] == words[TIMESTAMP]
                && shared[EPOCH] == words[EPOCH]
                && hasBegun
                && version == keys.version();
    }

    private boolean begin(final long attributes) {
        final MemorySegment key = key((int) words[EPOCH]);
        hasBegun = key.byteSize() > 0;
        if (hasBegun) {
            System.arraycopy(words, 0, shared, 0, shared.length);
            shared[HEAD] = attributes;
            hash.begin(key);
            hash.add(attributes);
            hash.add(words[FRAME]);
            hash.add(words[TIMESTAMP]);
            hash.add(words[EPOCH]);
        }
        return hasBegun;
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
        forget();
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

    private void forget() {
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
        hasBegun = false;
        hash.forget();
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        forget();
        hash.close();
    }
}
