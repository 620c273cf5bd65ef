package io.framecast.reliability.wire;

/// A receiver's behaviour when it cannot keep up with its source; JOIN carries it.
///
/// @param kind the policy
/// @param patienceMs DEADLINE: a frame's age, in milliseconds, at which it is dropped; EVICT: how long the receiver
///     may hold the source back; else 0
public record Delivery(Kind kind, int patienceMs) {
    /// The largest value that JOIN can carry.
    public static final int PATIENCE_MAX_MS = 0xffff;

    public static final Delivery RELIABLE = new Delivery(Kind.RELIABLE, 0);
    public static final Delivery LATEST = new Delivery(Kind.LATEST, 0);

    /// Policies; the position is the wire code.
    public enum Kind {
        /// Gets every frame; the source waits for it.
        RELIABLE,
        /// Drops frames older than its patience; the source does not wait.
        DEADLINE,
        /// Drops all frames but the newest; the source does not wait.
        LATEST,
        /// Gets every frame, and is evicted when it holds the source back.
        EVICT
    }

    private static final Kind[] KINDS = Kind.values();

    public Delivery {
        final boolean patient = kind == Kind.DEADLINE || kind == Kind.EVICT;
        if (patient ? patienceMs < 1 || patienceMs > PATIENCE_MAX_MS : patienceMs != 0) {
            throw new IllegalArgumentException(
                    "delivery " + kind + ": expected 1 … " + PATIENCE_MAX_MS + " ms, got " + patienceMs);
        }
    }

    public static Delivery deadline(final int patienceMs) {
        return new Delivery(Kind.DEADLINE, patienceMs);
    }

    public static Delivery evict(final int patienceMs) {
        return new Delivery(Kind.EVICT, patienceMs);
    }

    /// The policy of a member that stands for two subscribers: it gets each frame that one of them must have.
    public static Delivery strongest(final Delivery one, final Delivery other) {
        if (one.isWaitedFor() || other.isWaitedFor()) {
            return RELIABLE;
        }
        final int patienceMs = Math.max(one.patienceMs, other.patienceMs);
        return patienceMs == 0 ? LATEST : deadline(patienceMs);
    }

    /// Whether the source waits for this receiver's credit and acknowledgements.
    public boolean isWaitedFor() {
        return kind == Kind.RELIABLE || kind == Kind.EVICT;
    }

    /// Two fields of the wire: kind in the low half, patience in the high one.
    public int code() {
        return patienceMs << 16 | kind.ordinal();
    }

    public static boolean isCode(final int code) {
        final int kind = code & 0xffff;
        final int patience = code >>> 16;
        return kind < KINDS.length && (KINDS[kind] == Kind.DEADLINE || KINDS[kind] == Kind.EVICT) == (patience > 0);
    }

    /// @param code for which [#isCode] holds
    public static Delivery of(final int code) {
        return new Delivery(KINDS[code & 0xffff], code >>> 16);
    }
}
