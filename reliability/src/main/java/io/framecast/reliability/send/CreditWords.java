package io.framecast.reliability.send;

import io.framecast.reliability.flow.RetryTimer;
import io.framecast.reliability.send.Member.State;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.CreditWord;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.util.Objects;
import java.util.random.RandomGenerator;

/// The source's side of one-sided credit: which members may write their grants into its status vector, and
/// whether those words are possible. The source connects to a member once the member is ready. While the
/// connection stands, the source repeats the address of the member's word until the word shows a grant. An
/// impossible word closes that member's connection only: its grants then come by datagram, as before.
///
/// A word belongs to one membership by its epoch, which is random and which the source sends to that member alone.
/// The source closes the connection before another member gets the word.
///
/// One thread.
final class CreditWords {
    private static final long RETRY_NS = 20_000_000;
    private static final long RETRY_MAX_NS = RETRY_NS << 4;
    private static final int ATTEMPTS_MAX = 20;
    // Checks of a pending connection, a minute's worth: the device resolves neighbours a few at a time.
    private static final int LOOKS_MAX = 190;

    /// The stage of a member's connection.
    enum Stage {
        NONE,
        CONNECTING,
        OFFERED,
        LIVE
    }

    private final StreamInfo stream;
    private final boolean feeding;
    private final MemberTable members;
    private final RandomGenerator random;
    private final SenderOutput output;
    private final Counts<SenderCount> counts;
    private final ControlWriter ids;
    private int guarded;

    /// @param random for epochs
    CreditWords(
            final SenderConfig config,
            final MemberTable members,
            final RandomGenerator random,
            final SenderOutput output,
            final Counts<SenderCount> counts,
            final ControlWriter ids) {
        stream = config.stream();
        feeding = config.coRoots().feed() == CoRootConfig.Feed.UNICAST;
        this.members = members;
        this.random = random;
        this.output = output;
        this.counts = counts;
        this.ids = ids.another();
    }

    /// Whether [#onTick] has nothing to do for the member, now and later.
    boolean isIdle(final int member) {
        return members.of(member).connection.stage == Stage.NONE;
    }

    /// A receiver has become a member: its handshake has confirmed its addresses.
    void onActivated(final int member, final long nowNs) {
        final byte[] descriptor = members.of(member).terms.addresses().link();
        if (descriptor.length == 0) {
            return;
        }
        if (!output.link(member, descriptor, isFed(member))) {
            counts.add(SenderCount.LINK_FAILURES);
            return;
        }
        members.of(member).connection.stage = Stage.CONNECTING;
        guard(member, !members.of(member).terms.delivery().isWaitedFor());
        members.of(member).connection.epoch = 1 + random.nextInt(CreditWord.EPOCH_MAX);
        members.of(member).connection.word = 0;
        retry(member, LOOKS_MAX, nowNs);
    }

    // Whether the source writes the window into this member's replica, where it is a co-root.
    private boolean isFed(final int member) {
        return feeding || members.of(member).terms.offer().fedOnly();
    }

    /// A member's delivery has changed.
    void onPolicy(final int member) {
        if (members.of(member).connection.stage != Stage.NONE) {
            guard(member, !members.of(member).terms.delivery().isWaitedFor());
        }
    }

    private void guard(final int member, final boolean value) {
        guarded += (value ? 1 : 0) - (members.of(member).connection.guarded ? 1 : 0);
        members.of(member).connection.guarded = value;
    }

    private void retry(final int member, final int attemptsMax, final long nowNs) {
        final RetryTimer made = new RetryTimer(RETRY_NS, RETRY_MAX_NS, attemptsMax);
        made.begin(nowNs);
        members.of(member).connection.retry = made;
    }

    /// A member has left: when this returns it reaches none of the source's memory.
    void onGone(final int member) {
        if (members.of(member).connection.stage == Stage.NONE) {
            return;
        }
        counts.add(SenderCount.LINKS, -(members.of(member).connection.stage == Stage.LIVE ? 1 : 0));
        guard(member, false);
        members.of(member).connection.stage = Stage.NONE;
        output.unlink(member);
    }

    /// Whether a member's endpoint is connected, as far as this side knows.
    boolean isLinked(final int member) {
        return members.of(member).isLinked();
    }

    /// Whether a member writes its grants; it may read repairs in any case.
    boolean isLive(final int member) {
        return members.of(member).connection.stage == Stage.LIVE;
    }

    /// Whether a member may read the window although the source reuses slots without waiting for it.
    boolean isGuarded() {
        return guarded > 0;
    }

    private void fail(final int member) {
        counts.add(SenderCount.LINK_FAILURES);
        onGone(member);
    }

    /// Sends a member the address of its word when that is due, and gives up a failed connection.
    ///
    /// @return work done
    int onTick(final int member, final long nowNs) {
        final Stage stage = members.of(member).connection.stage;
        if (stage != Stage.NONE && output.isEndpointBroken(member)) {
            fail(member);
            return 1;
        }
        final RetryTimer retry = members.of(member).connection.retry;
        if ((stage != Stage.CONNECTING && stage != Stage.OFFERED) || retry == null || !retry.isDue(nowNs)) {
            return 0;
        }
        if (retry.isExhausted()) {
            fail(member);
            return 1;
        }
        final EndpointOffer offer = output.endpointOffer(member);
        if (offer != null && stage == Stage.CONNECTING) {
            members.of(member).connection.stage = Stage.OFFERED;
            retry(member, ATTEMPTS_MAX, nowNs);
        }
        Objects.requireNonNull(members.of(member).connection.retry).onAttempt(nowNs);
        if (offer == null) {
            return 0;
        }
        final int epoch = members.of(member).connection.epoch;
        ids.receiver(members.of(member).id);
        output.sendControl(
                member,
                isFed(member)
                        ? RcConnectLayout.writeFeed(ids.in(output.control()), epoch, offer)
                        : RcConnectLayout.write(ids.in(output.control()), epoch, offer));
        return 1;
    }

    /// A member's word has changed.
    ///
    /// @param next sequence that the source sends next
    /// @return whether the word granted something new
    boolean onWord(final int member, final long word, final long next) {
        final Stage stage = members.of(member).connection.stage;
        if (stage == Stage.NONE || stage == Stage.CONNECTING || members.of(member).state != State.ACTIVE) {
            return false;
        }
        final long grant = CreditWord.grant(word, next);
        if (!isPossible(member, word, grant, next)) {
            counts.add(SenderCount.IMPOSSIBLE_WORDS);
            onGone(member);
            return false;
        }
        if (stage == Stage.OFFERED) {
            members.of(member).connection.stage = Stage.LIVE;
            counts.add(SenderCount.LINKS);
        }
        members.of(member).connection.word = word;
        counts.add(SenderCount.CREDIT_WORDS);
        if (grant <= members.of(member).grant) {
            return false;
        }
        members.acknowledge(member, members.of(member).acknowledged, grant);
        return true;
    }

    // Grants only grow. A ring has no more free slots than slots, plus one frame that the receiver gives up unseen.
    private boolean isPossible(final int member, final long word, final long grant, final long next) {
        final long before = members.of(member).connection.word;
        return CreditWord.epoch(word) == members.of(member).connection.epoch
                && grant >= 0
                && grant <= next + members.of(member).terms.ringSlots() + stream.frameMaxSlots()
                && (before == 0 || grant >= CreditWord.grant(before, next));
    }
}
