package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// SOLICIT, receiver → source: asks for a heartbeat, and for the source's clock. The session may be 0, where none is
/// known. As long as the longest control datagram, so that no answer is longer than the question.
///
/// ```
///  40 clockNs i64 (the receiver's clock, in nanoseconds since the epoch)  48 zeros
/// ```
public final class SolicitLayout {
    public static final LongField CLOCK = new LongField(40);
    static final int LENGTH = Wire.CONTROL_BYTES_MAX;

    private SolicitLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.DATAGRAM_BYTES.get(datagram, offset) == LENGTH
                && ControlLayout.RECEIVER.get(datagram, offset) != 0;
    }

    public static int write(final ControlWriter out, final long clockNs) {
        final int padding = CLOCK.at() + Long.BYTES;
        return out.begin(ControlLayout.TYPE_SOLICIT, 0)
                .put(CLOCK, clockNs)
                .zero(padding, LENGTH - padding)
                .seal(LENGTH);
    }
}
