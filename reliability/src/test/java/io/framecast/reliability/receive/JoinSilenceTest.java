package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import org.junit.jupiter.api.Test;

/// A source that falls silent before a receiver has become a member.
final class JoinSilenceTest {
    private final MachinePair pair = new MachinePair();

    private void runReceiverUntilLost() {
        for (int i = 0; i < 100 && pair.receiver.state() != State.LOST; i++) {
            pair.nowNs = Math.max(pair.nowNs + 1, pair.receiver.nextDeadlineNs());
            pair.receiver.onTick(pair.nowNs);
        }
        assertEquals(State.LOST, pair.receiver.state());
    }

    @Test
    void shouldBeLostOnTimeWhenTheSourceIsSilentThoughTheNextJoinIsDueLater() {
        pair.receiver.start(0);
        runReceiverUntilLost();
        assertEquals(Reason.SILENT, pair.receiver.lostReason());
        assertEquals(MachinePair.ALIVE_NS + 1, pair.nowNs);
    }

    @Test
    void shouldBeLostOnTimeWhenEvictedWhileStarting() {
        pair.receiver.start(0);
        while (pair.receiver.state() != State.STARTING) {
            pair.sender.onControl(
                    pair.toSender.peek(), 0, (int) pair.toSender.remove().byteSize(), 0);
            pair.receiver.onControl(
                    pair.toReceiver.peek(), 0, (int) pair.toReceiver.remove().byteSize(), 0);
            pair.probe(pair.probes.remove());
        }
        pair.sender.close();
        pair.receiver.onControl(
                pair.toReceiver.peek(), 0, (int) pair.toReceiver.remove().byteSize(), 0);
        runReceiverUntilLost();
        assertEquals(Reason.CLOSED, pair.receiver.lostReason());
        // The grace of a goodbye: the round-trip time assumed before the first announcement.
        assertEquals(2_000_000, pair.nowNs);
    }
}
