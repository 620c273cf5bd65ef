package io.framecast.reliability.receive;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.VerdictCounts;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// Garbage on every lane: nothing throws, everything is counted, and the stream goes on.
final class HostileTest {
    // Mutation testing sets a lower number, because it comes here for every change that survives.
    private static final int ROUNDS = Integer.getInteger("hostile.rounds", 300_000);

    private final SplittableRandom random = new SplittableRandom(99);
    private final MachinePair pair = new MachinePair();

    private void deliver(final MemorySegment datagram) {
        final int bytes = (int) datagram.byteSize();
        switch (random.nextInt(4)) {
            case 0 -> pair.receiver.onData(datagram, 0, bytes, pair.nowNs);
            case 1 -> pair.receiver.onRepair(datagram, 0, bytes, pair.nowNs);
            case 2 -> pair.receiver.onControl(datagram, 0, bytes, pair.nowNs);
            default -> pair.sender.onControl(datagram, 0, bytes, pair.nowNs);
        }
    }

    private static long counted(final VerdictCounts verdicts) {
        long sum = 0;
        for (final Verdict verdict : Verdict.values()) {
            sum += verdicts.get(verdict);
        }
        return sum;
    }

    private void assertStreamGoesOn() {
        assertEquals(State.RECEIVING, pair.receiver.state());
        assertEquals(1, pair.sender.readyMembers());
        for (int i = 0; i < 20; i++) {
            pair.publish(3);
            pair.send(1);
            pair.run(50_000_000);
            final ReceivedFrame frame = pair.receiver.pollFrame();
            assertEquals(i, frame.frameId());
        }
    }

    @Test
    void shouldCountAndGoOnWhenDatagramsAreRandom() {
        pair.join();
        final long before = counted(pair.receiver.verdicts()) + counted(pair.sender.verdicts());
        final long rejected =
                pair.receiver.verdicts().rejected() + pair.sender.verdicts().rejected();
        for (int round = 0; round < ROUNDS; round++) {
            final byte[] bytes = new byte[random.nextInt(160)];
            random.nextBytes(bytes);
            if (bytes.length > 0 && random.nextBoolean()) {
                bytes[0] = (byte) (Wire.VERSION << 4 | random.nextInt(16));
            }
            deliver(MemorySegment.ofArray(bytes));
        }
        assertEquals(ROUNDS, counted(pair.receiver.verdicts()) + counted(pair.sender.verdicts()) - before);
        assertEquals(
                ROUNDS,
                pair.receiver.verdicts().rejected() + pair.sender.verdicts().rejected() - rejected);
        pair.toSender.clear();
        pair.toReceiver.clear();
        assertStreamGoesOn();
    }

    @Test
    void shouldRejectWhenTrueDatagramsAreMutated() {
        pair.join();
        pair.sender.end(0);
        pair.sender.onTick(1);
        final MemorySegment heartbeat = pair.toReceiver.getLast();
        final MachinePair other = new MachinePair();
        other.receiver.start(0);
        final MemorySegment join = other.toSender.getLast();
        pair.toReceiver.clear();
        final long before = counted(pair.receiver.verdicts()) + counted(pair.sender.verdicts());
        for (int round = 0; round < ROUNDS; round++) {
            final MemorySegment original = random.nextBoolean() ? heartbeat : join;
            final byte[] bytes = original.toArray(JAVA_BYTE);
            for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
                final int at = random.nextInt(bytes.length);
                bytes[at] = (byte) (bytes[at] ^ (1 + random.nextInt(255)));
            }
            if (MemorySegment.ofArray(bytes).mismatch(original) < 0) {
                bytes[0]++;
            }
            deliver(MemorySegment.ofArray(java.util.Arrays.copyOf(bytes, bytes.length - random.nextInt(2))));
        }
        assertEquals(ROUNDS, counted(pair.receiver.verdicts()) + counted(pair.sender.verdicts()) - before);
        assertEquals(State.RECEIVING, pair.receiver.state());
        assertEquals(0, pair.sender.verdicts().get(Verdict.DUPLICATE));
    }

    /// An attacker that knows the session can seal any datagram: impossible numbers are still refused, and nothing
    /// throws.
    @Test
    void shouldNotThrowWhenSealedHeadersLie() {
        pair.join();
        final HeaderChecksum checksum = new HeaderChecksum();
        final MemorySegment header = MemorySegment.ofArray(new byte[DataLayout.LENGTH + 64]);
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < DataLayout.LENGTH; i++) {
                header.set(JAVA_BYTE, i, (byte) (random.nextInt(3) == 0 ? random.nextInt(256) : 0));
            }
            header.set(JAVA_BYTE, 0, (byte) (Wire.VERSION << 4 | random.nextInt(4)));
            header.set(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 8, (int) MachinePair.SESSION);
            checksum.seal(header, 0, MachinePair.SESSION);
            final int bytes = DataLayout.LENGTH + 1 + random.nextInt(64);
            if (random.nextBoolean()) {
                pair.receiver.onData(header, 0, bytes, pair.nowNs);
            } else if (pair.receiver.wantsRepair(header, 0, bytes)) {
                pair.receiver.onRepair(header, 0, bytes, pair.nowNs);
            }
            pair.receiver.pollFrame();
            assertTrue(pair.receiver.acknowledgedSequence() <= pair.receiver.grantedSequence());
        }
        assertEquals(State.RECEIVING, pair.receiver.state());
        assertEquals(0, pair.receiver.verdicts().get(Verdict.BAD_CHECKSUM));
        assertTrue(pair.receiver.verdicts().get(Verdict.IMPOSSIBLE) > ROUNDS / 300);
    }
}
