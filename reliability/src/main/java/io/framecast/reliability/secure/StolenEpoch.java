package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A copy of an epoch's keys in other hands: what somebody can seal who has all that a member knows. For
/// simulations and
/// tests.
///
/// One thread. It owns its copies.
public final class StolenEpoch implements AutoCloseable {
    private final EpochKeys epoch;
    private final SecretBytes groupKey;
    private final ControlKey group;
    private final ControlKey.SealCounter counter;
    private final DataKeys dataKeys = new DataKeys();
    private final ControlSealer sealer = new ControlSealer(new Counts<>(ProtectionEvent.class));

    /// Copies the newest epoch of a source's keys.
    ///
    /// @param lastCounter of the control datagram that the first one follows
    public StolenEpoch(final DataKeys keys, final Crypto crypto, final long lastCounter) {
        final EpochKeys original = keys.epochs().getLast();
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment memory = arena.allocate(Wire.CONTROL_BYTES_MAX, Long.BYTES);
            final int body = ControlLayout.LENGTH;
            original.write(memory, body);
            epoch = EpochKeys.read(crypto, memory, body);
            original.write(memory, body);
            groupKey = SecretBytes.take(memory, KeysLayout.GROUP_KEY, Cipher.KEY_BYTES);
        }
        counter = new ControlKey.SealCounter(lastCounter);
        group = new ControlKey(crypto, KeySchedule.group(groupKey), ControlNonce.SOURCE_TO_GROUP, counter);
        dataKeys.epochs().add(epoch);
        dataKeys.change(epoch.epoch());
    }

    public int epoch() {
        return epoch.epoch();
    }

    /// The keys of the data.
    public DataKeys data() {
        return dataKeys;
    }

    /// Seals as the source does to the group.
    ///
    /// @return length of the sealed datagram
    public int sealToGroup(final MemorySegment datagram, final int bytes) {
        return sealer.seal(group, EpochKeys.low(epoch.epoch()), datagram, bytes);
    }

    /// Seals as a member does to others.
    ///
    /// @return length of the sealed datagram
    public int sealToMember(final MemorySegment datagram, final int bytes, final long senderId) {
        return sealer.sealWithSender(
                epoch.own(senderId, counter), EpochKeys.low(epoch.epoch()), datagram, bytes, senderId);
    }

    @Override
    public void close() {
        dataKeys.close();
        group.close();
        groupKey.close();
    }
}
