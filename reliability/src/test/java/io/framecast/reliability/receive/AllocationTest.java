package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.SenderConfig;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.send.SenderOutput;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/// A million datagrams through both machines, one in five hundred lost: no byte is allocated.
final class AllocationTest {
    private static final int FRAME_SLOTS = 16;
    private static final long FRAME_BYTES = FRAME_SLOTS * (long) MachinePair.SLOT_BYTES;
    private static final byte[] NO_METADATA = new byte[0];

    private final MachinePair parts = new MachinePair();
    private final SendWindow window = parts.window;
    private final MemorySegment headers = parts.headers;
    private final Mail toReceiver = new Mail();
    private final Mail toSender = new Mail();
    private final SenderMachine sender = new SenderMachine(
            new SenderConfig(parts.stream, 4, 0, CoRootConfig.NONE), window, new SplittableRandom(1), new Source());
    private final ReceiverMachine receiver = new ReceiverMachine(
            new ReceiverConfig(parts.stream, 9, 90, 256, 48, 2, Delivery.RELIABLE, MachinePair.ADDRESSES, 0, 0),
            new SplittableRandom(2),
            new Sink(),
            null);
    private final MemorySegment probe = MemorySegment.ofArray(new byte[DataLayout.LENGTH]);
    private long nowNs;
    private long frames;

    @Test
    void shouldAllocateNothingWhenDataFlowsWithLoss() {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Assumptions.assumeTrue(
                threads.isThreadAllocatedMemorySupported() && threads.isThreadAllocatedMemoryEnabled(),
                "this JVM does not count allocated bytes");
        receiver.start(0);
        flow(300_000);
        long least = Long.MAX_VALUE;
        // A compilation that ends within a round may deoptimize and allocate: the best of ten counts.
        for (int round = 0; round < 10 && least > 0; round++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            flow(1_000_000);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least);
        assertTrue(receiver.counts().get(ReceiverCount.REPAIRED_DATAGRAMS) > 1000);
        assertTrue(frames > 1_000_000 / FRAME_SLOTS);
    }

    private void flow(final long datagrams) {
        final long end = sender.nextSequence() + datagrams;
        while (sender.nextSequence() < end) {
            nowNs += 5_000;
            if (receiver.state() != ReceiverMachine.State.JOINING && window.freeSlots() >= FRAME_SLOTS) {
                window.beginFrame(FRAME_BYTES, 0, nowNs, NO_METADATA);
                window.commit(FRAME_BYTES, FRAME_SLOTS);
            }
            send();
            carry();
            if (sender.nextDeadlineNs() <= nowNs) {
                sender.onTick(nowNs);
            }
            if (receiver.nextDeadlineNs() <= nowNs) {
                receiver.onTick(nowNs);
            }
            ReceivedFrame frame = receiver.pollFrame();
            while (frame != null) {
                frames++;
                receiver.onCredit(frame.firstSequence() + FRAME_SLOTS + 256, nowNs);
                frame = receiver.pollFrame();
            }
            window.free(sender.releasable());
        }
    }

    private void send() {
        final int count = sender.sendable();
        final long first = sender.nextSequence();
        if (count == 0) {
            return;
        }
        sender.announceMetadata(count);
        sender.onSent(count, nowNs);
        for (long sequence = first; sequence < first + count; sequence++) {
            if (sequence % 500 != 7) {
                final long offset = (long) window.slot(sequence) * DataLayout.LENGTH;
                receiver.onData(headers, offset, DataLayout.LENGTH + MachinePair.SLOT_BYTES, nowNs);
            }
        }
    }

    private void carry() {
        for (int i = 0; i < toReceiver.count; i++) {
            receiver.onControl(toReceiver.memory[i], 0, toReceiver.bytes[i], nowNs);
        }
        toReceiver.count = 0;
        for (int i = 0; i < toSender.count; i++) {
            final Verdict verdict = sender.onControl(toSender.memory[i], 0, toSender.bytes[i], nowNs);
            assertTrue(verdict == Verdict.GOOD || verdict == Verdict.DUPLICATE);
        }
        toSender.count = 0;
    }

    private static final class Mail {
        private final MemorySegment[] memory = new MemorySegment[64];
        private final int[] bytes = new int[64];
        private int count;

        Mail() {
            java.util.Arrays.setAll(memory, _ -> MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]));
        }

        MemorySegment next() {
            return memory[count];
        }

        void sent(final int length) {
            bytes[count++] = length;
        }
    }

    private final class Sink implements ReceiverOutput {
        @Override
        public MemorySegment control() {
            return toSender.next();
        }

        @Override
        public void sendControl(final int bytes) {
            toSender.sent(bytes);
        }
    }

    private final class Source implements SenderOutput {
        @Override
        public MemorySegment control() {
            return toReceiver.next();
        }

        @Override
        public void multicastControl(final int bytes) {
            toReceiver.sent(bytes);
        }

        @Override
        public void sendControl(final int member, final int bytes) {
            toReceiver.sent(bytes);
        }

        @Override
        public void probe(final int token) {
            DataLayout.write(probe, 0, new DataHeader().session(DataLayout.TYPE_PROBE, MachinePair.SESSION), 0, token);
            new HeaderChecksum().seal(probe, 0, MachinePair.SESSION);
            receiver.onData(probe, 0, DataLayout.LENGTH + MachinePair.SLOT_BYTES, nowNs);
        }

        @Override
        public boolean isOneHost(final LaneAddresses addresses) {
            return true;
        }

        @Override
        public boolean connect(final int member, final byte[] controlAddress, final byte[] repairAddress) {
            return true;
        }

        @Override
        public void disconnect(final int member) {
            throw new IllegalStateException("no receiver leaves");
        }

        @Override
        public int repair(final int member, final long firstSequence, final int count) {
            for (int i = 0; i < count; i++) {
                final long offset = (long) window.slot(firstSequence + i) * DataLayout.LENGTH;
                receiver.onRepair(headers, offset, DataLayout.LENGTH + MachinePair.SLOT_BYTES, nowNs);
            }
            return count;
        }
    }
}
