package io.framecast.reliability.sim.secure;

import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.lane.ControlProtection;
import io.framecast.reliability.lane.DataOpener;
import io.framecast.reliability.lane.DataSealer;
import io.framecast.reliability.secure.DataKeys;
import io.framecast.reliability.secure.DatagramSeals;
import io.framecast.reliability.secure.ReceiverProtection;
import io.framecast.reliability.secure.SharedKeys;
import io.framecast.reliability.secure.SourceProtection;
import io.framecast.reliability.secure.StolenEpoch;
import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.reliability.wire.StreamInfo.Seal;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// `auth=`, with and without a cipher, for the simulator: the classes that ship, with one shared key that is no
/// secret, and with the JDK's ciphers for payloads, whose memory is of the heap there.
///
/// Stateless; the objects that it makes belong to its caller, one thread.
public final class SimulatedAuth implements SimSecurity {
    private final Seal seal;

    /// @param seal of the data, not [Seal#NONE]
    public SimulatedAuth(final Seal seal) {
        this.seal = seal;
    }

    /// Most seeds have `payloads=unprotected`, some a cipher; none has one where payloads land where nothing
    /// opens them.
    public static SimulatedAuth of(final long seed, final Swarm swarm) {
        return new SimulatedAuth(
                switch (swarm.direct() ? 0 : Math.floorMod(seed, 6)) {
                    case 1 -> Seal.AES_GCM;
                    case 4 -> Seal.CHACHA20_POLY1305;
                    default -> Seal.HEADER;
                });
    }

    private static final class OneKey implements SharedKeys, AutoCloseable {
        private final SecretBytes key;

        private OneKey() {
            final byte[] bytes = new byte[Cipher.KEY_BYTES];
            Arrays.fill(bytes, (byte) 0x2b);
            key = SecretBytes.take(bytes);
        }

        @Override
        public String id() {
            return "sim";
        }

        @Override
        public SecretBytes key() {
            return key;
        }

        @Override
        public @Nullable SecretBytes find(final String id) {
            return id.equals(id()) ? key.duplicate() : null;
        }

        @Override
        public boolean isOfEach() {
            return false;
        }

        @Override
        public boolean isGone(final String id) {
            return false;
        }

        @Override
        public void close() {
            key.close();
        }
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
        private final OneKey keys = new OneKey();
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
            protection = new SourceProtection(session, keys, Crypto.JDK, handshakesMax, random, output::send);
            seals = DatagramSeals.of(seal, protection.dataKeys(), Crypto.JDK);
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
            return new KeyThief(new StolenEpoch(protection.dataKeys(), Crypto.JDK, counter), seal);
        }

        @Override
        public void close() {
            seals.close();
            protection.close();
            keys.close();
        }
    }

    private static final class ReceiverEnd implements Receiver {
        private final OneKey keys = new OneKey();
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
                    keys, Crypto.JDK, address, previousNs, random, output::send, onHeartbeat::onHeartbeat);
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
            opened.add(DatagramSeals.of(seal, known == null ? DataKeys.none() : known, Crypto.JDK));
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

    /// Seals what it likes with a copy of an epoch's keys.
    private record KeyThief(StolenEpoch stolen, Seal seal) implements Insider {
        @Override
        public int epoch() {
            return stolen.epoch();
        }

        @Override
        public int sealToGroup(final MemorySegment datagram, final int bytes) {
            return stolen.sealToGroup(datagram, bytes);
        }

        @Override
        public int sealToMember(final MemorySegment datagram, final int bytes, final long senderId) {
            return stolen.sealToMember(datagram, bytes, senderId);
        }

        @Override
        public void seal(
                final MemorySegment headers,
                final long header,
                final MemorySegment payload,
                final long at,
                final int bytes) {
            // The attacker may use one nonce twice, which the JDK's cipher refuses.
            try (DatagramSeals seals = DatagramSeals.of(seal, stolen.data(), Crypto.JDK)) {
                seals.seal(headers, header, payload, at, bytes);
            }
        }

        @Override
        public void close() {
            stolen.close();
        }
    }
}
