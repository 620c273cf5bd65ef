package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.wire.ControlLayout;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/// The keys of one epoch: of the group's control datagrams, with those derived from it, and of the data.
///
/// One thread. It owns the keys.
final class EpochKeys implements AutoCloseable {
    /// Senders whose derived keys are kept; the one that was silent for longest loses its place.
    static final int SENDERS_MAX = 64;
    /// Epoch of datagrams that no key of an epoch seals.
    static final int NONE = 0;

    private final Crypto crypto;
    private final int epoch;
    private final SecretBytes groupKey;
    private final SecretBytes dataKey;
    private final ControlKey group;
    // By the sender's id: of other members, and of this one.
    private final Long2ObjectHashMap<ControlKey> senders = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<ControlKey> own = new Long2ObjectHashMap<>();
    // When a receiver takes no control datagrams under them any more.
    private long endNs = Long.MAX_VALUE;
    private boolean ended;
    // From this sequence on data are sealed under a later epoch.
    private long dataEnd = Long.MAX_VALUE;

    /// Takes the keys over.
    EpochKeys(final Crypto crypto, final int epoch, final SecretBytes groupKey, final SecretBytes dataKey) {
        this.crypto = crypto;
        this.epoch = epoch;
        this.groupKey = groupKey;
        this.dataKey = dataKey;
        group = new ControlKey(crypto, KeySchedule.group(groupKey), ControlNonce.SOURCE_TO_GROUP);
    }

    static EpochKeys random(final Crypto crypto, final int epoch, final RandomGenerator random) {
        final SecretBytes groupKey = SecretBytes.random(random, Cipher.KEY_BYTES);
        return new EpochKeys(crypto, epoch, groupKey, SecretBytes.random(random, Cipher.KEY_BYTES));
    }

    /// Takes keys out of a datagram that was opened, and wipes them there.
    ///
    /// @param body offset of the fields of [KeysLayout], at which they follow a header
    static EpochKeys read(final Crypto crypto, final MemorySegment memory, final long body) {
        final long offset = body - ControlLayout.LENGTH;
        return new EpochKeys(
                crypto,
                KeysLayout.EPOCH.get(memory, offset),
                SecretBytes.take(memory, offset + KeysLayout.GROUP_KEY, Cipher.KEY_BYTES),
                SecretBytes.take(memory, offset + KeysLayout.DATA_KEY, Cipher.KEY_BYTES));
    }

    /// Writes the keys into a datagram, which the caller seals.
    ///
    /// @param body as in [#read]
    void write(final MemorySegment memory, final long body) {
        final long offset = body - ControlLayout.LENGTH;
        KeysLayout.EPOCH.set(memory, offset, epoch);
        groupKey.writeTo(memory, offset + KeysLayout.GROUP_KEY);
        dataKey.writeTo(memory, offset + KeysLayout.DATA_KEY);
    }

    /// The epoch behind another one. Its low half is never 0.
    static int after(final int epoch) {
        final int next = epoch + 1;
        return low(next) == NONE ? next + 1 : next;
    }

    /// The part of an epoch that a datagram's header has.
    static int low(final int epoch) {
        return epoch & 0xffff;
    }

    int epoch() {
        return epoch;
    }

    SecretBytes dataKey() {
        return dataKey;
    }

    ControlKey group() {
        return group;
    }

    long endNs() {
        return endNs;
    }

    void endAt(final long nowNs) {
        endNs = Math.min(endNs, nowNs);
    }

    /// No control datagram is taken under them any more; data are.
    boolean isEnded() {
        return ended;
    }

    void end() {
        ended = true;
        endNs = Long.MAX_VALUE;
    }

    /// The first sequence that a later epoch has, as far as is known; else `Long.MAX_VALUE`.
    long dataEnd() {
        return dataEnd;
    }

    void endDataAt(final long sequence) {
        dataEnd = Math.min(dataEnd, sequence);
    }

    /// The key of another member, where it is kept.
    @Nullable
    ControlKey sender(final long id) {
        return senders.get(id);
    }

    /// Derives the key of another member.
    ///
    /// @return one that the caller closes, or hands to [#keep]
    ControlKey derive(final long id) {
        return new ControlKey(crypto, KeySchedule.member(groupKey, id), ControlNonce.MEMBER_TO_MEMBER);
    }

    /// Keeps the key of a member that has it: a datagram was verified.
    void keep(final long id, final ControlKey key) {
        if (senders.size() >= SENDERS_MAX) {
            drop(senders);
        }
        senders.put(id, key);
    }

    /// The key of this member's own datagrams to other members.
    ControlKey own(final long id, final ControlKey.SealCounter counter) {
        final ControlKey known = own.get(id);
        if (known != null) {
            return known;
        }
        if (own.size() >= SENDERS_MAX) {
            drop(own);
        }
        final ControlKey made =
                new ControlKey(crypto, KeySchedule.member(groupKey, id), ControlNonce.MEMBER_TO_MEMBER, counter);
        own.put(id, made);
        return made;
    }

    private static void drop(final Long2ObjectHashMap<ControlKey> keys) {
        long oldest = 0;
        long oldestNs = Long.MAX_VALUE;
        for (final Long id : keys.keySet()) {
            final long usedNs = keys.get(id.longValue()).usedNs();
            if (usedNs < oldestNs) {
                oldest = id;
                oldestNs = usedNs;
            }
        }
        final ControlKey dropped = keys.remove(oldest);
        if (dropped != null) {
            dropped.close();
        }
    }

    @Override
    public void close() {
        senders.values().forEach(ControlKey::close);
        own.values().forEach(ControlKey::close);
        group.close();
        groupKey.close();
        dataKey.close();
    }
}
