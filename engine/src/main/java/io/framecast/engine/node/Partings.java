package io.framecast.engine.node;

import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.wire.DataLayout;

/// What a subscriber is told of a session that ended other than by end of stream, in one line.
final class Partings {
    private Partings() {}

    /// Of a machine that is LOST after it was a member.
    static String lost(final ReceiverMachine machine) {
        return switch (machine.lostReason()) {
            case SILENT ->
                "source lost: silent for " + machine.silenceNs() / 1_000_000 + " ms (alive-timeout); is it running?";
            case CLOSED -> "source lost: it closed without end of stream";
            case SLOW ->
                "source lost: it evicted this subscriber for holding it back longer than its delivery= allows; release"
                        + " frames sooner, or subscribe again";
            case UNKNOWN, LEFT, FULL, RING_TOO_SMALL ->
                "source lost: it evicted this subscriber after alive-timeout without an answer; subscribe again";
        };
    }

    /// Of a machine that never became a member.
    static String notJoined(final ReceiverMachine machine) {
        if (machine.state() == ReceiverMachine.State.LOST) {
            return "join failed: a source was heard and does not answer; is it running, and not behind a filter?";
        }
        final int datagram = machine.stream().slotBytes() + DataLayout.LENGTH;
        return switch (machine.lostReason()) {
            case SILENT ->
                "join refused: a full-size datagram of " + datagram
                        + " bytes did not pass from the source; lower mtu= at the source";
            case RING_TOO_SMALL -> "join refused: ring too small for the source's frame-max; enlarge ring=";
            case FULL -> "join refused: the source holds as many subscribers as it can";
            case UNKNOWN, LEFT, CLOSED, SLOW -> "join refused: the source closed";
        };
    }
}
