package io.framecast.reliability.send;

import io.framecast.reliability.flow.RetryTimer;
import io.framecast.reliability.flow.RttEstimator;
import io.framecast.reliability.repair.RepairBudget;
import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import org.jspecify.annotations.Nullable;

/// A place of the [MemberTable], and the state of the receiver in it. Reused.
final class Member implements MemberStatus {
    private static final JoinLayout.Terms NO_TERMS = new JoinLayout.Terms(
            0, Delivery.RELIABLE, 0, new LaneAddresses(new byte[0], new byte[0]), CoRootOffer.NONE);

    /// A member's stage.
    enum State {
        FREE,
        /// ADMIT and a probe were sent.
        ADMITTED,
        /// READY was received: the member counts.
        ACTIVE,
        GONE
    }

    long id;
    State state = State.FREE;
    JoinLayout.Terms terms = NO_TERMS;
    int token;
    /// Of ADMIT; READY must return it.
    long value;
    /// READY returned the value: the host at the addresses in use asked for the stream.
    boolean proven;
    /// Of repairs that it asks for.
    final RepairBudget budget = new RepairBudget();
    /// Of the newest POLICY; 0: JOIN's holds.
    int policyVersion;
    /// For how many it stands.
    int subscribers = 1;
    /// The time of the last answer to its JOIN.
    long answeredNs;
    long startSequence;
    long startFrameId;
    boolean started;
    long acknowledged;
    long grant;
    /// It knows the stream's end and has all of it.
    boolean complete;
    long heardNs;
    long admittedNs;
    long excusedNs = Long.MIN_VALUE;
    long heldBackNs;
    long holdsBackNs;
    long requested;
    /// The reason for the eviction of a member that is GONE.
    Reason reason = Reason.UNKNOWN;
    final RttEstimator rtt = new RttEstimator();
    long timeoutNs;
    int timeouts;

    final Formats formats = new Formats();
    final Group group = new Group();
    final Connection connection = new Connection();

    /// The group of a co-root that it is in, as the co-root or as one of its members.
    @Nullable
    ServedGroup set;

    /// Written by [FormatAnnouncements].
    static final class Formats {
        /// A bit for each number whose format it has not acknowledged.
        int unknown;

        long dueNs;
        int tries;
    }

    /// Its place in a group, written by [CoRoots]: epochs, and times.
    static final class Group {
        int joined;
        int instructed;
        int confirmed;
        int repeats;
        long repeatNs;
        long unfitNs;
        long instructedNs;
        long advancedNs;
        boolean alone;
    }

    /// Its one-sided endpoint, written by [CreditWords].
    static final class Connection {
        CreditWords.Stage stage = CreditWords.Stage.NONE;
        int epoch;
        long word;
        /// Its reads are guarded.
        boolean guarded;

        @Nullable
        RetryTimer retry;
    }

    /// Whether its endpoint is connected, as far as the source knows.
    boolean isLinked() {
        return connection.stage == CreditWords.Stage.OFFERED || connection.stage == CreditWords.Stage.LIVE;
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public boolean isActive() {
        return state == State.ACTIVE;
    }

    @Override
    public byte[] controlAddress() {
        return terms.addresses().control();
    }

    @Override
    public Delivery delivery() {
        return terms.delivery();
    }

    @Override
    public long acknowledged() {
        return acknowledged;
    }

    @Override
    public long grant() {
        return grant;
    }

    @Override
    public long requested() {
        return requested;
    }

    @Override
    public long holdsBackNs() {
        return holdsBackNs;
    }

    /// Whether the source waits for it.
    boolean isWaitedFor() {
        return isActive() && terms.delivery().isWaitedFor();
    }
}
