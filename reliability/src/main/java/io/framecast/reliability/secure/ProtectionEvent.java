package io.framecast.reliability.secure;

/// The events that a protection counts: outcomes of datagrams and of handshakes.
public enum ProtectionEvent {
    /// Datagrams that were sealed.
    SEALED,
    /// Datagrams that were not sent, for want of a key.
    UNSEALED,
    /// Datagrams that were not sent because their key was used [ControlKey#DATAGRAMS_MAX] times.
    EXHAUSTED,
    /// Datagrams that were opened.
    OPENED,
    /// Messages of the handshake and keys that were taken.
    HANDSHAKE,
    /// Receivers or sources with which a handshake came to an end: from then on there are keys.
    AGREED,
    /// Epochs that followed another one.
    REKEYED,
    /// Handshakes that were given up for want of an answer.
    ABANDONED,
    /// Handshakes that lost their place to newer ones.
    DISPLACED,
    /// Length, version, checksum or a field is wrong.
    MALFORMED,
    /// Not sealed: its sender has no `auth=`.
    PLAIN,
    /// There is no key for it: another session's, another receiver's, an epoch that is over.
    NO_KEY,
    /// Forged or altered, or of another key.
    BAD_TAG,
    /// It arrived before, or is too old to know.
    REPLAYED,
    /// Beyond the number of answers in a time.
    LIMITED,
    /// PROOF with a cookie that is not this source's, or too old.
    BAD_COOKIE,
    /// PROOF or ANSWER of one that does not have the key.
    BAD_PROOF,
    /// PROOF that names a key which this source does not have.
    UNKNOWN_KEY,
    /// A public key that gives no secret.
    WEAK_KEY
}
