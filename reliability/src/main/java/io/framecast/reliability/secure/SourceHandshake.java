package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.crypto.X25519;
import io.framecast.reliability.flow.RetryTimer;
import io.framecast.reliability.wire.Wire;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A receiver's handshake with the source of one session, and the keys that came of it.
///
/// One thread. It owns the keys.
final class SourceHandshake implements AutoCloseable {
    /// A handshake that lasts longer is given up.
    static final long LIMIT_NS = 8_000_000_000L;
    /// Epochs whose keys are kept at most: the one in use, the one before, and epochs that may follow.
    static final int EPOCHS_MAX = 4;

    private static final long RETRY_FIRST_NS = 20_000_000;
    private static final long RETRY_MOST_NS = 500_000_000;
    // Every so many attempts ask for another cookie: the one at hand may be forged.
    private static final int ATTEMPTS_PER_COOKIE = 4;
    // COOKIEs taken for each HELLO.
    private static final int COOKIES_MAX = 4;

    final long session;
    final int id;
    final byte[] challenge = new byte[HandshakeLayout.CHALLENGE_BYTES];
    final byte[] publicKey;
    final RetryTimer timer = new RetryTimer(RETRY_FIRST_NS, RETRY_MOST_NS, Integer.MAX_VALUE);
    final long begunNs;
    final ControlKey.SealCounter memberCounter = new ControlKey.SealCounter();
    /// The last heartbeat that was not verified, as it came.
    final byte[] heartbeat = new byte[Wire.CONTROL_BYTES_MAX];
    int heartbeatBytes;
    /// The source's control address, as the last heartbeat has it until the handshake ends.
    byte[] sourceAddress = {};
    byte @Nullable [] cookie;
    private int attempts;
    private int cookiesLeft;
    // The two of a handshake that has ended, null before.
    @Nullable
    ControlKey toSource;

    @Nullable
    ControlKey toMember;

    final DataKeys keys = new DataKeys();
    /// The first heartbeat, since one was verified, whose epoch is unknown.
    long strangeNs = Long.MAX_VALUE;
    private long usedNs;
    private @Nullable SecretBytes privateKey;

    SourceHandshake(
            final long session, final int id, final X25519 curve, final RandomGenerator random, final long nowNs) {
        this.session = session;
        this.id = id;
        begunNs = nowNs;
        usedNs = nowNs;
        random.nextBytes(challenge);
        final SecretBytes made = X25519.newPrivateKey(random);
        privateKey = made;
        publicKey = curve.publicKey(made);
        timer.begin(nowNs);
    }

    boolean isAgreed() {
        return toSource != null;
    }

    @Nullable
    SecretBytes privateKey() {
        return privateKey;
    }

    long usedNs() {
        return usedNs;
    }

    void use(final long nowNs) {
        usedNs = nowNs;
    }

    /// Whether the attempt that is due is a HELLO; else it is a PROOF.
    boolean isHelloDue() {
        if (cookie != null && attempts++ % ATTEMPTS_PER_COOKIE != ATTEMPTS_PER_COOKIE - 1) {
            return false;
        }
        cookiesLeft = COOKIES_MAX;
        return true;
    }

    /// Takes a cookie: a PROOF with it is due.
    ///
    /// @return false where as many came as one HELLO can have brought
    boolean onCookie(final byte[] given, final long nowNs) {
        if (cookiesLeft == 0) {
            return false;
        }
        cookiesLeft--;
        cookie = given;
        attempts = 0;
        timer.begin(nowNs);
        return true;
    }

    /// Ends the handshake.
    void agree(final ControlKey source, final ControlKey member) {
        toSource = source;
        toMember = member;
        timer.stop();
        final SecretBytes used = privateKey;
        if (used != null) {
            used.close();
            privateKey = null;
        }
    }

    /// The keys of an epoch, by the part of its number in a control datagram's header.
    @Nullable
    EpochKeys epoch(final int low) {
        for (int i = 0; i < keys.epochs().size(); i++) {
            final EpochKeys found = keys.epochs().get(i);
            if (EpochKeys.low(found.epoch()) == low && !found.isEnded()) {
                return found;
            }
        }
        return null;
    }

    /// The keys under which the source sealed last.
    @Nullable
    EpochKeys current() {
        return epoch(EpochKeys.low(keys.epoch()));
    }

    /// Adds keys of a new epoch.
    void add(final EpochKeys added) {
        if (keys.epochs().size() >= EPOCHS_MAX) {
            final int oldest = keys.epochAt(0) == keys.epoch() ? 1 : 0;
            keys.epochs().remove(oldest).close();
        }
        keys.epochs().add(added);
        keys.change(keys.epochs().size() == 1 ? added.epoch() : keys.epoch());
    }

    /// The source seals under this epoch: the one before ends, and those before that are not needed any more, for the
    /// source waits until none of their datagrams can be repaired.
    ///
    /// @param known the epoch in use before, or [EpochKeys#NONE] for the newest with keys: those between
    ///     were never used, and evicted members may have them
    void activate(final EpochKeys used, final int known, final long endNs) {
        if (used.epoch() - keys.epoch() <= 0) {
            return;
        }
        final int previous = known == EpochKeys.NONE ? before(used.epoch()) : known;
        for (int i = keys.epochs().size() - 1; i >= 0; i--) {
            final EpochKeys other = keys.epochs().get(i);
            if (other.epoch() - used.epoch() >= 0) {
                continue;
            }
            if (other.epoch() == previous) {
                other.endAt(endNs);
            } else {
                keys.epochs().remove(i).close();
            }
        }
        keys.change(used.epoch());
    }

    // The newest epoch before this one that has keys, or this one.
    private int before(final int epoch) {
        int found = epoch;
        for (int i = 0; i < keys.epochs().size() && keys.epochAt(i) - epoch < 0; i++) {
            found = keys.epochAt(i);
        }
        return found;
    }

    /// Forgets the epochs between the one that the source uses and the newest: it will not use them.
    void forgetUnused(final int inUse) {
        if (inUse - keys.epoch() < 0) {
            return;
        }
        for (int i = keys.epochs().size() - 2; i >= 0; i--) {
            if (keys.epochAt(i) - inUse > 0) {
                keys.epochs().remove(i).close();
            }
        }
        keys.change(keys.epoch());
    }

    /// All that were sealed under earlier epochs are below this sequence.
    void endDataAt(final long sequence) {
        for (int i = 0; i < keys.epochs().size() && keys.epochAt(i) - keys.epoch() < 0; i++) {
            keys.epochs().get(i).endDataAt(sequence);
        }
    }

    /// Ends the epochs whose time is over, for control datagrams.
    ///
    /// @return the time of the next one, or `Long.MAX_VALUE`
    long retire(final long nowNs) {
        long nextNs = Long.MAX_VALUE;
        for (int i = 0; i < keys.epochs().size(); i++) {
            final EpochKeys held = keys.epochs().get(i);
            if (held.endNs() <= nowNs) {
                held.end();
            }
            nextNs = Math.min(nextNs, held.endNs());
        }
        return nextNs;
    }

    @Override
    public void close() {
        if (privateKey != null) {
            privateKey.close();
        }
        if (toSource != null) {
            toSource.close();
        }
        if (toMember != null) {
            toMember.close();
        }
        keys.close();
    }
}
