package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Hkdf;
import io.framecast.reliability.crypto.SecretBytes;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Cookies of a source: each is a tag over a HELLO's content under a secret that changes each minute. So the source
/// keeps nothing of a receiver that has not proven its address (Karn and Simpson 1999, RFC 2522 §3).
///
/// One thread. It owns the secrets.
final class Cookies implements AutoCloseable {
    static final long SECRET_NS = 60_000_000_000L;

    private final RandomGenerator random;
    private SecretBytes secret;
    private @Nullable SecretBytes previous;
    private long changedNs;

    Cookies(final RandomGenerator random) {
        this.random = random;
        secret = SecretBytes.random(random, Hkdf.HASH_BYTES);
    }

    private void turn(final long nowNs) {
        final long passedNs = nowNs - changedNs;
        if (passedNs < SECRET_NS) {
            return;
        }
        if (previous != null) {
            previous.close();
            previous = null;
        }
        if (passedNs < 2 * SECRET_NS) {
            previous = secret;
        } else {
            secret.close();
        }
        secret = SecretBytes.random(random, Hkdf.HASH_BYTES);
        changedNs = nowNs;
    }

    byte[] of(final byte[] content, final long nowNs) {
        turn(nowNs);
        return Hkdf.mac(secret, content);
    }

    /// Whether this source gave the cookie for this content, one to two minutes ago at most.
    boolean isGood(final byte[] cookie, final byte[] content, final long nowNs) {
        turn(nowNs);
        return KeySchedule.matches(Hkdf.mac(secret, content), cookie)
                || (previous != null && KeySchedule.matches(Hkdf.mac(previous, content), cookie));
    }

    @Override
    public void close() {
        secret.close();
        if (previous != null) {
            previous.close();
        }
    }
}
