package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Aead;
import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.crypto.SecretBytes;

/// A key of sealed control datagrams in one direction: the crypto, the sender's counter, the receiver's window.
///
/// One thread. It owns the key, which [#close] wipes.
final class ControlKey implements AutoCloseable {
    /// Datagrams that one key seals. AES-GCM's bound on an attacker's advantage is then 2^-51 for datagrams of this
    /// length (McGrew and Viega 2004, §5).
    static final long DATAGRAMS_MAX = 1L << 32;

    /// Counts the datagrams of a sender. Keys that begin anew under the same name share one, so that no nonce returns.
    static final class SealCounter {
        private long count;

        SealCounter() {}

        SealCounter(final long count) {
            this.count = count;
        }
    }

    private final SecretBytes secret;
    private final Aead aead;
    private final ControlNonce nonce;
    private final SealCounter counter;
    private final ReplayWindow window = new ReplayWindow();
    private long usedNs;

    /// Takes the key over.
    ControlKey(final Crypto crypto, final SecretBytes secret, final ControlNonce nonce, final SealCounter counter) {
        this.secret = secret;
        this.nonce = nonce;
        this.counter = counter;
        aead = crypto.aead(Cipher.AES_GCM, secret);
    }

    ControlKey(final Crypto crypto, final SecretBytes secret, final ControlNonce nonce) {
        this(crypto, secret, nonce, new SealCounter());
    }

    Aead aead() {
        return aead;
    }

    ControlNonce nonce() {
        return nonce;
    }

    ReplayWindow window() {
        return window;
    }

    /// The next datagram's counter; 0 where the key was used too often.
    long nextCounter() {
        return counter.count >= DATAGRAMS_MAX ? 0 : ++counter.count;
    }

    /// Datagrams that it has sealed.
    long count() {
        return counter.count;
    }

    /// Time of the last datagram that was verified.
    long usedNs() {
        return usedNs;
    }

    void use(final long nowNs) {
        usedNs = nowNs;
    }

    @Override
    public void close() {
        aead.close();
        secret.close();
    }
}
