package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Aead;
import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import org.agrona.collections.Int2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/// Seals of datagrams of the data lane that encrypt the payload, and authenticate it with the first 48 bytes of the
/// header, under the key of the epoch that they name. The nonce is the sequence, which a key sees once: a repair
/// repeats sealed bytes, and a co-root that seals again makes the same bytes. Probes have no sequence, and their
/// payload does not count: they have the seals of [HeaderTags].
///
/// Memory is native, payloads too, where the cipher asks for that.
public final class PayloadSeals implements DatagramSeals {
    /// The first four bytes of the nonce, big-endian: no class of control datagrams has it.
    private static final int DATA = 0x0200_0006;

    private static final long UNREAD = -1;

    private final DataKeys keys;
    private final Function<SecretBytes, Aead> cipher;
    private final HeaderTags probes;
    private final Int2ObjectHashMap<Aead> byEpoch = new Int2ObjectHashMap<>();
    private long version = UNREAD;

    public PayloadSeals(final DataKeys keys, final Cipher cipher, final Crypto crypto) {
        this.keys = keys;
        this.cipher = key -> crypto.aead(cipher, key);
        probes = new HeaderTags(keys);
    }

    @Override
    public void seal(
            final MemorySegment headers,
            final long header,
            final MemorySegment payload,
            final long at,
            final int payloadBytes) {
        if (isProbe(headers, header)) {
            probes.seal(headers, header, payload, at, payloadBytes);
            return;
        }
        DataLayout.writeEpoch(headers, header, keys.epoch());
        if (!encrypt(headers, header, payload, at, payloadBytes)) {
            throw new IllegalStateException("no key of epoch " + keys.epoch());
        }
    }

    private boolean encrypt(
            final MemorySegment headers,
            final long header,
            final MemorySegment payload,
            final long at,
            final int payloadBytes) {
        final Aead aead = aead(DataLayout.KEY_EPOCH.get(headers, header));
        if (aead == null) {
            return false;
        }
        final long sequence = DataLayout.SEQUENCE.get(headers, header);
        aead.seal(DATA, sequence, headers, header, DataLayout.TAG, header + DataLayout.TAG, payload, at, payloadBytes);
        return true;
    }

    @Override
    public boolean open(
            final MemorySegment headers,
            final long header,
            final MemorySegment payload,
            final long at,
            final int payloadBytes) {
        if (isProbe(headers, header)) {
            return probes.open(headers, header, payload, at, payloadBytes);
        }
        final int epoch = DataLayout.KEY_EPOCH.get(headers, header);
        final long sequence = DataLayout.SEQUENCE.get(headers, header);
        final Aead aead = aead(epoch);
        final boolean isOpen = aead != null
                && keys.isWithin(epoch, sequence)
                && aead.open(
                        DATA,
                        sequence,
                        headers,
                        header,
                        DataLayout.TAG,
                        header + DataLayout.TAG,
                        payload,
                        at,
                        payloadBytes);
        if (isOpen && keys.count() > 1) {
            keys.onOpened(epoch, sequence);
        }
        return isOpen;
    }

    @Override
    public void reseal(
            final MemorySegment headers,
            final long header,
            final MemorySegment payload,
            final long at,
            final int payloadBytes) {
        if (!encrypt(headers, header, payload, at, payloadBytes)) {
            throw new IllegalStateException("no key for the epoch of the opened datagram");
        }
    }

    private static boolean isProbe(final MemorySegment headers, final long header) {
        return DataLayout.type(headers, header) == DataLayout.TYPE_PROBE;
    }

    private @Nullable Aead aead(final int epoch) {
        if (version != keys.version()) {
            derive();
        }
        return byEpoch.get(epoch);
    }

    // Keeps the ciphers of epochs that are still there.
    private void derive() {
        version = keys.version();
        byEpoch.entrySet().removeIf(entry -> {
            final boolean ended = keys.key(entry.getKey()) == null;
            if (ended) {
                entry.getValue().close();
            }
            return ended;
        });
        for (int i = 0; i < keys.count(); i++) {
            final int epoch = keys.epochAt(i);
            final SecretBytes key = byEpoch.containsKey(epoch) ? null : keys.key(epoch);
            if (key != null) {
                try (SecretBytes derived = KeySchedule.payload(key)) {
                    byEpoch.put(epoch, cipher.apply(derived));
                }
            }
        }
    }

    @Override
    public void close() {
        probes.close();
        byEpoch.values().forEach(Aead::close);
        byEpoch.clear();
        version = UNREAD;
    }
}
