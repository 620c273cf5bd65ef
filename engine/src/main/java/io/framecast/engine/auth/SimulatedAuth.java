package io.framecast.engine.auth;

import io.framecast.engine.crypto.Cipher;
import io.framecast.engine.crypto.KeyFile.NamedKey;
import io.framecast.engine.crypto.SecretBytes;
import io.framecast.reliability.lane.ControlProtection;
import io.framecast.reliability.lane.DataOpener;
import io.framecast.reliability.lane.DataSealer;
import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.reliability.sim.secure.SimSecurity;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.StreamInfo.Seal;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/// `auth=`, with and without a cipher, for the simulator: the classes that ship, with one shared key that is no
/// secret, and with the JDK's ciphers for payloads, whose memory is of the heap there.
///
/// Stateless; what it makes belongs to its caller, one thread.
public final class SimulatedAuth implements SimSecurity {
    private static final Cipher CIPHER = Cipher.AES_GCM;

    private final Seal seal;

    /// @param seal of the data, not [Seal#NONE]
    public SimulatedAuth(final Seal seal) {
        this.seal = seal;
    }

    /// Most seeds have `payloads=unprotected`, some a cipher; none has one where payloads land where nothing opens
    /// them.
    public static SimulatedAuth of(final long seed, final Swarm swarm) {
        return new SimulatedAuth(
                switch (swarm.direct() ? 0 : Math.floorMod(seed, 6)) {
                    case 1 -> Seal.AES_GCM;
                    case 4 -> Seal.CHACHA20_POLY1305;
                    default -> Seal.HEADER;
                });
    }

    private static DatagramSeals seals(final Seal seal, final DataKeys keys) {
        return switch (seal) {
            case NONE, HEADER -> DatagramSeals.of(seal, keys);
            case AES_GCM -> new PayloadSeals(keys, Cipher.AES_GCM::openByJdk);
            case CHACHA20_POLY1305 -> new PayloadSeals(keys, Cipher.CHACHA20_POLY1305::openByJdk);
        };
    }

    private static AuthKeys keys() {
        final byte[] bytes = new byte[Cipher.KEY_BYTES];
        Arrays.fill(bytes, (byte) 0x2b);
        return AuthKeys.of(new NamedKey("sim", SecretBytes.take(bytes)));
    }

    @Override
    public Seal seal() {
        return seal;
    }

    @Override
    public Source source(
            final long session, final int handshakesMax, final RandomGenerator random, final Output output) {
        return new SourceEnd(seal, session, handshakesMax, random, output);
    }

    @Override
    public Receiver receiver(
            final byte[] address,
            final long previousNs,
            final RandomGenerator random,
            final Output output,
            final Announcements onHeartbeat) {
        return new ReceiverEnd(seal, address, previousNs, random, output, onHeartbeat);
    }

    private static final class SourceEnd implements Source {
        private final AuthKeys keys = keys();
        private final Seal seal;
        private final SourceProtection protection;
        private final DatagramSeals seals;

        private SourceEnd(
                final Seal seal,
                final long session,
                final int handshakesMax,
                final RandomGenerator random,
                final Output output) {
            this.seal = seal;
            protection = new SourceProtection(session, keys, CIPHER, handshakesMax, random, output::send);
            seals = seals(seal, protection.dataKeys());
        }

        @Override
        public ControlProtection control() {
            return protection;
        }

        @Override
        public DataSealer data() {
            return seals;
        }

        @Override
        public void evict(final int handshakeId) {
            protection.evict(handshakeId, _ -> false);
        }

        @Override
        public void useWhere(final BooleanSupplier condition, final LongSupplier next) {
            protection.useWhere(condition, next);
        }

        @Override
        public int epoch() {
            return protection.dataKeys().epoch();
        }

        @Override
        public void rekey(final long nowNs, final long limitNs, final IntPredicate members) {
            protection.rekey(nowNs, limitNs, members);
        }

        @Override
        public Insider insider(final long counter) {
            return new KeyThief(seal, protection.dataKeys().epochs().getLast(), counter);
        }

        @Override
        public void close() {
            seals.close();
            protection.close();
            keys.close();
        }
    }

    private static final class ReceiverEnd implements Receiver {
        private final AuthKeys keys = keys();
        private final Seal seal;
        private final ReceiverProtection protection;
        private final List<DatagramSeals> opened = new ArrayList<>();

        private ReceiverEnd(
                final Seal seal,
                final byte[] address,
                final long previousNs,
                final RandomGenerator random,
                final Output output,
                final Announcements onHeartbeat) {
            this.seal = seal;
            protection = new ReceiverProtection(
                    keys, CIPHER, address, previousNs, random, output::send, onHeartbeat::onHeartbeat);
        }

        @Override
        public ControlProtection control() {
            return protection;
        }

        @Override
        public long receiverId(final long session, final RandomGenerator ids) {
            return protection.receiverId(session, ids);
        }

        @Override
        public boolean agree(final long session, final byte[] sourceAddress, final long nowNs) {
            return protection.agree(session, sourceAddress, nowNs);
        }

        @Override
        public void refuse(final long session) {
            protection.refuse(session);
        }

        @Override
        public DataOpener data(final long session) {
            final DataKeys known = protection.dataKeys(session);
            opened.add(seals(seal, known == null ? DataKeys.none() : known));
            return opened.getLast();
        }

        @Override
        public void forget(final long session) {
            protection.forget(session);
        }

        @Override
        public void close() {
            opened.forEach(DatagramSeals::close);
            protection.close();
            keys.close();
        }
    }

    /// A copy of an epoch's keys, in other hands.
    private static final class KeyThief implements Insider {
        private final Seal seal;
        private final EpochKeys epoch;
        private final SecretBytes groupKey;
        private final ControlKey group;
        private final ControlKey.SealCounter counter;
        private final DataKeys dataKeys = new DataKeys();
        private final ControlSealer sealer = new ControlSealer(new Counts<>(ProtectionEvent.class));

        private KeyThief(final Seal seal, final EpochKeys original, final long counter) {
            this.seal = seal;
            try (Arena arena = Arena.ofConfined()) {
                final MemorySegment memory = arena.allocate(Wire.CONTROL_BYTES_MAX, Long.BYTES);
                final int body = ControlLayout.LENGTH;
                original.write(memory, body);
                epoch = EpochKeys.read(CIPHER, memory, body);
                original.write(memory, body);
                groupKey = SecretBytes.take(memory, KeysLayout.GROUP_KEY, Cipher.KEY_BYTES);
            }
            this.counter = new ControlKey.SealCounter(counter);
            group = new ControlKey(CIPHER, KeySchedule.group(groupKey), ControlNonce.SOURCE_TO_GROUP, this.counter);
            dataKeys.epochs().add(epoch);
            dataKeys.change(epoch.epoch());
        }

        @Override
        public int epoch() {
            return epoch.epoch();
        }

        @Override
        public int sealToGroup(final MemorySegment datagram, final int bytes) {
            return sealer.seal(group, EpochKeys.low(epoch.epoch()), datagram, bytes);
        }

        @Override
        public int sealToMember(final MemorySegment datagram, final int bytes, final long senderId) {
            return sealer.sealWithSender(
                    epoch.own(senderId, counter), EpochKeys.low(epoch.epoch()), datagram, bytes, senderId);
        }

        @Override
        public void seal(
                final MemorySegment headers,
                final long header,
                final MemorySegment payload,
                final long at,
                final int bytes) {
            // He seals what he likes, one nonce twice too, which the JDK's cipher refuses.
            try (DatagramSeals seals = seals(seal, dataKeys)) {
                seals.seal(headers, header, payload, at, bytes);
            }
        }

        @Override
        public void close() {
            dataKeys.close();
            group.close();
            groupKey.close();
        }
    }
}
