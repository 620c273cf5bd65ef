package io.framecast.engine.session;

import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.wire.LeaveLayout.Reason;

/// The reason, in one line, why a session ended other than by end of stream.
public final class DisconnectReason {
    private static final String EARLIER_BUILD =
            "join: the source is of an earlier build, whose ADMIT has no value; update it, or this end";

    private DisconnectReason() {}

    /// The reason of a machine that is LOST after it was a member.
    public static String lost(final ReceiverMachine machine, final long nowNs) {
        final long stoodMs = machine.stoodStillNs(nowNs) / 1_000_000;
        final long silenceMs = machine.silenceNs() / 1_000_000;
        return switch (machine.lostReason()) {
            case UNKNOWN, LEFT, FULL, RING_TOO_SMALL ->
                "source lost: it evicted this subscriber, and answers it no more; "
                        + (stoodMs > 0 ? standstill(stoodMs) + "; " : "")
                        + "subscribe again, or set rejoin=";
            case SILENT -> {
                if (machine.isEvicted()) {
                    yield "source lost: it evicted this subscriber after alive-timeout ("
                            + machine.stream().aliveTimeoutNs() / 1_000_000 + " ms) without an answer; "
                            + (stoodMs > 0 ? standstill(stoodMs) + "; " : "")
                            + "subscribe again, or set rejoin=";
                }
                yield stoodMs > 0
                        ? "source lost: not heard since " + standstill(stoodMs) + "; is it running?"
                        : "source lost: silent for " + silenceMs + " ms (alive-timeout); is it running?";
            }
            case CLOSED -> "source lost: it closed without end of stream";
            case UNREPAIRABLE ->
                "source lost: it has freed datagrams that this subscriber lacks, and cannot repair them; subscribe"
                        + " again, or set rejoin=";
            case SLOW ->
                "source lost: it evicted this subscriber, which held it back for longer than delivery= allows; release"
                        + " frames sooner, or subscribe again";
        };
    }

    /// The reason of a process that stood still.
    public static String standstill(final long ms) {
        return "this process stood still for " + ms
                + " ms (stopped, suspended, without a CPU, or busy with something else)";
    }

    /// The reason of a handshake that takes long.
    public static String joining(final ReceiverMachine machine) {
        if (machine.isSourceEarlier()) {
            return EARLIER_BUILD;
        }
        return machine.state() == ReceiverMachine.State.PROBING
                ? "join: a full-size datagram of " + datagramBytes(machine)
                        + " bytes has not passed from the source; lower mtu= at the source"
                : "join: a source was heard and has not answered; is it running, and not behind a filter?";
    }

    private static int datagramBytes(final ReceiverMachine machine) {
        return machine.stream().slotBytes() + machine.stream().headerBytes();
    }

    /// The reason of a machine that never became a member.
    ///
    /// @param obstacle the cause that the handshake, or an earlier one with the same source, waited for; empty
    ///     where none took long
    public static String notJoined(final ReceiverMachine machine, final String obstacle) {
        if (machine.isSourceEarlier()) {
            return EARLIER_BUILD;
        }
        if (machine.state() == ReceiverMachine.State.LOST) {
            return "join failed: a source was heard and does not answer; is it running, and not behind a filter?";
        }
        return switch (machine.lostReason()) {
            case SILENT ->
                "join refused: a full-size datagram of " + datagramBytes(machine)
                        + " bytes did not pass from the source; lower mtu= at the source";
            case RING_TOO_SMALL -> "join refused: ring too small for the source's frame-max; enlarge ring=";
            case FULL -> "join refused: the source holds as many subscribers as it can";
            case UNKNOWN, LEFT, CLOSED, SLOW, UNREPAIRABLE ->
                obstacle.isEmpty() ? "join refused: the source closed" : obstacle + "; then the source closed";
        };
    }

    /// Whether [#notJoined] finds no cause but that the source closed.
    public static boolean hasSourceClosed(final ReceiverMachine machine) {
        final Reason reason = machine.lostReason();
        return machine.state() != ReceiverMachine.State.LOST
                && reason != Reason.SILENT
                && reason != Reason.RING_TOO_SMALL
                && reason != Reason.FULL;
    }
}
